package sandbox

import (
	"fmt"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// abis are go-landlock's presets; the highest one known serves newer kernels.
var abis = []landlock.Config{landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5, landlock.V6,
	landlock.V7, landlock.V8, landlock.V9, landlock.V10, landlock.V11}

// handled is everything that the ABI can deny, without its logging options.
func handled(abi int) landlock.Config {
	c := abis[min(abi, len(abis))-1]
	return landlock.Config{HandledAccessFS: c.HandledAccessFS, HandledAccessNet: c.HandledAccessNet, Scoped: c.Scoped}
}

const (
	readRights   = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSReadDir
	deviceRights = ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate
	fileRights   = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate
	writeRights  = ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile |
		ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeSym |
		ll.AccessFSRefer
)

// workerRuleset is what a program may touch: the read list and the writable
// mounts. No network rule: every TCP bind and connect is denied (ABI 4).
func workerRuleset(abi int, read ReadList, writable []string) (int, error) {
	c := handled(abi)
	rights := func(want landlock.AccessFSSet) landlock.AccessFSSet { return want & c.HandledAccessFS }
	rules := []landlock.Rule{
		landlock.PathAccess(rights(readRights), systemDirs...).IgnoreIfMissing(),
		landlock.PathAccess(rights(readRights), "/proc"),
		landlock.PathAccess(rights(readRights&fileRights), systemFiles...).IgnoreIfMissing(),
		landlock.PathAccess(rights(readRights&fileRights), randomDevices...).IgnoreIfMissing(),
		landlock.PathAccess(rights(deviceRights), systemDevices...),
		landlock.PathAccess(rights(readRights), read.Dirs...),
		landlock.PathAccess(rights(readRights&fileRights), read.Files...),
		landlock.PathAccess(rights(readRights|writeRights), writable...),
	}
	return newRuleset(c, rules...)
}

// serverRuleset only closes the signal domain. Renaming between directories must
// be granted all the same: a layer that does not speak of it denies it as soon
// as a layer above handles files.
func serverRuleset() (int, error) {
	c := landlock.Config{HandledAccessFS: ll.AccessFSRefer, Scoped: ll.ScopeSignal}
	return newRuleset(c, landlock.PathAccess(ll.AccessFSRefer, "/"))
}

func newRuleset(c landlock.Config, rules ...landlock.Rule) (int, error) {
	fd, _, err := c.NewRulesetFD(rules...)
	if err != nil {
		return -1, err
	}
	if fd < 0 {
		return -1, fmt.Errorf("nothing to restrict in %v", c)
	}
	return fd, nil
}
