package sandbox

// InitName is argv[0] of the re-executed binary that builds the outer sandbox
// and then becomes the first fork server.
const InitName = "mcp-exec-init"

// Descriptors of the init process; the first two it hands on to python.
const (
	ControlFD = 3 // control socket; a failure of init is reported there
	ScriptFD  = 4 // the fork server, an archive in a memfd
	SpecFD    = 5 // an InitSpec as JSON
)

// TreeFD is the first of the trees that a parent hands over, with
// Posture.OpenTrees, in the order of InitSpec.Root.
const TreeFD = 6

// First descriptor of the rulesets that init makes: Names[i] is RulesetFD+i.
const RulesetFD = 100

// Descriptors that every forked process finds under a name.
const (
	RulesetServer = FD("ruleset.server") // domain of the fork servers and of each slot: signals stay inside
	RulesetWorker = FD("ruleset.worker") // what a program may touch
)

// ReadList is what a program may read and execute. It is explicit and never
// "/": a token file, /var/run/secrets and every home stay closed.
type ReadList struct {
	Dirs  []string // the interpreter's prefixes and module directories
	Files []string // the interpreter itself, where it lies elsewhere
}

// InitSpec is what init needs to know.
type InitSpec struct {
	Posture Posture
	Python  string // absolute path of the interpreter, executed as it is
	Read    ReadList
	Size    int64   // bytes of each private tmpfs, with Posture.OwnMounts
	Root    []Entry // of the root directory, with Posture.Namespaces
}

// Names are the descriptors that python inherits from RulesetFD on.
func (s InitSpec) Names() []string {
	if s.Posture.Namespaces || s.Posture.ABI == 0 {
		return nil
	}
	names := []string{string(RulesetWorker)}
	if s.Posture.SignalScope {
		names = append(names, string(RulesetServer))
	}
	return names
}

// ServerEnv is the whole environment of the fork servers. Thread pools of
// numerical libraries are held to one thread, since a run has few processes
// and a forked interpreter must have no threads; HOME must not exist, else a
// user's own site-packages would be found.
func ServerEnv() []string {
	return append(threadEnv(), "LANG=C.UTF-8", "HOME=/nonexistent", "PATH="+searchPath)
}

// WorkerEnv is the whole environment of a program. temp is its directory for
// temporary files.
func WorkerEnv(temp string) []string {
	return append(threadEnv(), "LANG=C.UTF-8", "HOME="+temp, "TMPDIR="+temp, "PATH="+searchPath,
		"USER=sandbox", "LOGNAME=sandbox", "MPLBACKEND=Agg", "MPLCONFIGDIR="+temp+"/.matplotlib")
}

const searchPath = "/usr/local/bin:/usr/bin:/bin"

func threadEnv() []string {
	return []string{"OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1", "NUMEXPR_NUM_THREADS=1"}
}
