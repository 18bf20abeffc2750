package sandbox

import (
	"fmt"
	"slices"
)

// FilterConfig is what the seccomp filter depends on besides the architecture.
// The zero value is the strictest filter for a kernel with Landlock's signal
// scope.
type FilterConfig struct {
	OwnNetwork  bool // own network namespace: TCP and UDP sockets; else EAFNOSUPPORT
	OwnIPC      bool // own ipc namespace: System V IPC and POSIX message queues
	OwnMounts   bool // own mount namespace, nothing of others in it: inotify
	UnixSockets bool // socket(AF_UNIX), and with it datagram pairs; stream pairs always

	// ProtectedPIDs can't be signalled, nor can -1 (everything). Set only on
	// kernels without the signal scope; nil: no signal rules. Kill(2) takes the
	// id of any thread and, negated, of a process group: name all three.
	ProtectedPIDs []int
}

// Filter is the configuration for a posture.
func (p Posture) Filter(protected []int) FilterConfig {
	return FilterConfig{OwnNetwork: p.Namespaces, OwnIPC: p.OwnIPC, OwnMounts: p.Namespaces,
		UnixSockets: p.Namespaces, ProtectedPIDs: protected}
}

// verdict is what a filter returns: SECCOMP_RET_* and its data, see seccomp(2).
// Kernel numbers are written out, so that the policy builds on every system.
type verdict uint32

const (
	retAllow        verdict = 0x7fff0000
	retKillProcess  verdict = 0x80000000
	retErrno        verdict = 0x00050000
	retEPERM                = retErrno | 1
	retEINVAL               = retErrno | 22
	retENOSYS               = retErrno | 38
	retNoProtocol           = retErrno | 93 // EPROTONOSUPPORT
	retNoSocketType         = retErrno | 94 // ESOCKTNOSUPPORT
	retEOPNOTSUPP           = retErrno | 95
	retNoFamily             = retErrno | 97 // EAFNOSUPPORT
)

// callRule replaces the base list's word on some system calls.
type callRule struct {
	calls     string // names, separated by spaces
	reason    string
	cases     []callCase // the first that holds decides
	otherwise verdict
}

// callCase gives a verdict when all its tests hold.
type callCase struct {
	when []argTest
	then verdict
}

// argTest holds when the masked argument is one of the values. Only the low 32
// bits are looked at: every argument tested here is an int, an unsigned int or
// (clone) a long whose upper half the kernel drops, so a test of all 64 bits
// would be evaded by setting an upper one.
type argTest struct {
	arg  uint32
	mask uint32
	in   []uint32
}

func argIs(arg uint32, values ...uint32) argTest {
	return argTest{arg, 0xffffffff, values}
}

func argMasked(arg, mask uint32, values ...uint32) argTest {
	return argTest{arg, mask, values}
}

// refuse answers v whatever the arguments.
func refuse(v verdict, calls, reason string) callRule {
	return callRule{calls: calls, reason: reason, otherwise: v}
}

// onlyIf allows the calls when all tests hold, and answers v otherwise.
func onlyIf(v verdict, calls, reason string, tests ...argTest) callRule {
	return callRule{calls, reason, []callCase{{tests, retAllow}}, v}
}

// unless answers v when all tests hold, and allows the calls otherwise.
func unless(v verdict, calls, reason string, tests ...argTest) callRule {
	return callRule{calls, reason, []callCase{{tests, v}}, retAllow}
}

// seccompPolicy returns every difference from the base list. A call has one rule.
func seccompPolicy(c FilterConfig) ([]callRule, error) {
	rules := slices.Concat(refused, onOneself, narrowed, socketRules(c), socketOptions)
	if !c.OwnIPC {
		rules = append(rules, sharedIPC)
	}
	if !c.OwnMounts {
		rules = append(rules, sharedFiles)
	}
	if c.ProtectedPIDs == nil {
		return rules, nil
	}
	signals, err := signalRules(c.ProtectedPIDs)
	return append(rules, signals...), err
}

const (
	afUnix  = 1
	afInet  = 2
	afInet6 = 10

	sockTypeMask  = 0xf // the rest of socket(2)'s type are SOCK_CLOEXEC, SOCK_NONBLOCK
	sockStream    = 1
	sockDgram     = 2
	sockSeqpacket = 5

	protoDefault = 0
	protoTCP     = 6
	protoUDP     = 17

	msgFastOpen = 0x20000000
)

// socketRules allow what the run's own namespaces contain. Vsock, netlink,
// packet, alg and the rest are never allowed: vsock is in no namespace.
func socketRules(c FilterConfig) []callRule {
	socket := callRule{"socket", "a family reaches out of the run unless its namespace is the run's own", nil, retNoFamily}
	if c.UnixSockets {
		socket.cases = append(socket.cases, callCase{[]argTest{argIs(0, afUnix)}, retAllow})
	}
	if c.OwnNetwork {
		socket.cases = append(socket.cases, inetCases...)
	}
	rules := []callRule{socket, socketpairRule(c.UnixSockets)}
	if !c.OwnNetwork {
		rules = append(rules,
			unless(retEPERM, "sendto sendmmsg", "TCP fast open connects without connect(2)", argMasked(3, msgFastOpen, msgFastOpen)),
			unless(retEPERM, "sendmsg", "TCP fast open connects without connect(2)", argMasked(2, msgFastOpen, msgFastOpen)))
	}
	if !c.OwnNetwork && !c.UnixSockets {
		rules = append(rules, refuse(retEPERM, "bind connect listen accept accept4", "only pairs exist, and these are connected"))
	}
	return rules
}

// socketOptions are narrowed in every posture: pairs are sockets too.
var socketOptions = []callRule{{
	"setsockopt", "classic filters are compiled into a budget of the whole host, and without room in it no seccomp filter can be made; " +
		"larger buffers are memory that no rlimit counts", []callCase{
		{[]argTest{argIs(1, solSocket), argIs(2, soAttachFilter, soAttachBPF, soReuseportCBPF, soReuseportEBPF)}, retEPERM},
		{[]argTest{argIs(1, solSocket), argIs(2, soSndBuf, soRcvBuf, soSndBufForce, soRcvBufForce)}, retEPERM},
	}, retAllow,
}}

// Options of setsockopt(2) at the level of the socket itself, see socket(7).
const (
	solSocket       = 1
	soSndBuf        = 7
	soRcvBuf        = 8
	soAttachFilter  = 26
	soSndBufForce   = 32
	soRcvBufForce   = 33
	soAttachBPF     = 50
	soReuseportCBPF = 51
	soReuseportEBPF = 52
)

// inetCases are TCP and UDP. Other protocols (MPTCP, SCTP, DCCP) load kernel
// modules; the errno is the one after which software falls back to TCP.
var inetCases = []callCase{
	{[]argTest{
		argIs(0, afInet, afInet6),
		argMasked(1, sockTypeMask, sockStream, sockDgram),
		argIs(2, protoDefault, protoTCP, protoUDP),
	}, retAllow},
	{[]argTest{argIs(0, afInet, afInet6)}, retNoProtocol},
}

// socketpairRule denies datagram pairs where socket(AF_UNIX) is denied: one end
// can sendto(2) any socket by path. SOCK_RAW is a datagram socket here too.
func socketpairRule(datagrams bool) callRule {
	pair := callRule{"socketpair", "a datagram pair reaches every unix socket by its path", nil, retNoFamily}
	if datagrams {
		pair.cases = []callCase{{[]argTest{argIs(0, afUnix)}, retAllow}}
		return pair
	}
	pair.cases = []callCase{
		{[]argTest{argIs(0, afUnix), argMasked(1, sockTypeMask, sockStream, sockSeqpacket)}, retAllow},
		{[]argTest{argIs(0, afUnix)}, retNoSocketType},
	}
	return pair
}

// signalRules stand in for Landlock's signal scope. Tgkill and its kin check
// that the thread is of the group in their first argument, so that one is
// enough; tkill has no such argument, and a pidfd can't be told apart.
func signalRules(pids []int) ([]callRule, error) {
	var ids, killArgs []uint32
	for _, pid := range pids {
		if pid <= 0 || int(int32(pid)) != pid {
			return nil, fmt.Errorf("protected pid %d: not a process id", pid)
		}
		ids = append(ids, uint32(pid))
		killArgs = append(killArgs, uint32(pid), -uint32(pid))
	}
	const everything = 0xffffffff // -1
	return []callRule{
		unless(retEPERM, "kill", "the server, its kin and everything at once", argIs(0, append(killArgs, everything)...)),
		unless(retEPERM, "tgkill rt_sigqueueinfo rt_tgsigqueueinfo", "the server and its kin", argIs(0, ids...)),
		refuse(retENOSYS, "tkill pidfd_send_signal", "the target's process is not in the arguments"),
	}, nil
}
