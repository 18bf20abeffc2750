//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// look is what testdata/posture/look.py prints, and what the test adds to it.
type look struct {
	Facts        facts    `json:"facts"`
	Init         facts    `json:"init"` // in a container: the server's
	Mounts       []string `json:"mounts"`
	MountsOfInit []string `json:"mounts_of_init"`
	Prefixes     []string `json:"prefixes"`

	pid          int   // as the test counts; 0 in a container
	server, fork facts // as far as they can be seen
}

// look runs the program and looks at it meanwhile, where it is in sight.
func (s *server) look(t *testing.T, prefix string) look {
	t.Helper()
	text, err := os.ReadFile("testdata/posture/look.py")
	if err != nil {
		t.Fatal(err)
	}
	if inContainer() {
		l := decodeLook(t, s.run(prefix+string(text)))
		l.server = l.Init
		return l
	}
	name := "look" + strconv.Itoa(os.Getpid())
	answered := make(chan result, 1)
	go func() { answered <- s.call(args{"code": prefix + string(text), "stdin": name + "\n"}) }()
	pid := processNamed(t, name)
	outside := outsideFacts(t, pid)
	tops := children(s.cmd.Process.Pid)
	server, fork := processFacts(t, s.cmd.Process.Pid), processFacts(t, tops[0])
	server["host name"], _ = os.Hostname()
	for _, id := range []string{"Uid", "Gid", "Groups"} {
		server["outside "+id] = server["status "+id]
	}
	server["outside owner"] = fmt.Sprint(os.Geteuid())
	sameFiles(t, pid)
	holdNamespaces(t, pid)
	kill(t, []int{pid})
	l := decodeLook(t, <-answered)
	for key, value := range outside {
		l.Facts[key] = value
	}
	l.pid, l.server, l.fork = pid, server, fork
	return l
}

// holdNamespaces keeps those of a process until the test ends: the kernel gives the
// number of one that is gone to the next.
func holdNamespaces(t *testing.T, pid int) {
	t.Helper()
	paths, err := filepath.Glob(fmt.Sprintf("/proc/%d/ns/*", pid))
	if err != nil || len(paths) == 0 {
		t.Fatalf("namespaces of %d: %q, %v", pid, paths, err)
	}
	for _, path := range paths {
		held, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { held.Close() })
	}
}

func decodeLook(t *testing.T, res result) look {
	t.Helper()
	var l look
	if err := json.Unmarshal([]byte(res.Stdout), &l); err != nil {
		t.Fatalf("%v in %s", err, res.brief())
	}
	return l
}

// processNamed waits for a process that has taken this name.
func processNamed(t *testing.T, name string) int {
	t.Helper()
	found := 0
	eventually(t, "the program has said all", func() bool {
		paths, _ := filepath.Glob("/proc/[0-9]*/comm")
		for _, path := range paths {
			if text, _ := os.ReadFile(path); strings.TrimSpace(string(text)) == name {
				found, _ = strconv.Atoi(filepath.Base(filepath.Dir(path)))
			}
		}
		return found != 0
	})
	if found == 0 {
		t.FailNow()
	}
	return found
}

// outsideFacts are those that look different from outside.
func outsideFacts(t *testing.T, pid int) facts {
	t.Helper()
	f := processFacts(t, pid)
	return facts{"outside Uid": f["status Uid"], "outside Gid": f["status Gid"], "outside Groups": f["status Groups"],
		"outside owner": fmt.Sprint(owner(pid))}
}

// processFacts are what /proc shows of any process, under the names of look.py.
func processFacts(t *testing.T, pid int) facts {
	t.Helper()
	f := facts{}
	dir := fmt.Sprintf("/proc/%d/", pid)
	for line := range strings.Lines(mustRead(t, dir+"status")) {
		key, value, _ := strings.Cut(line, ":")
		f["status "+key] = strings.Join(strings.Fields(value), " ")
	}
	for _, name := range []string{"uid_map", "gid_map", "setgroups"} {
		f[name] = strings.Join(strings.Fields(mustRead(t, dir+name)), " ")
	}
	links, err := os.ReadDir(dir + "ns")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if f["namespace "+link.Name()], err = os.Readlink(dir + "ns/" + link.Name()); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// words are texts of an expectation that hold for more than one value.
var words = map[string]func(l look, key, got string) bool{
	"the server's":            func(l look, key, got string) bool { return l.server[key] == got },
	"the fork server's":       func(l look, key, got string) bool { return l.fork[key] == got && l.server[key] != got },
	"own":                     func(l look, key, got string) bool { return l.fork[key] != got && l.server[key] != got },
	"slot":                    func(_ look, _, got string) bool { return slotID(got) },
	"65532 slot 1":            func(_ look, _, got string) bool { return regexp.MustCompile(`^65532 [1-9]\d* 1$`).MatchString(got) },
	"not of an own namespace": func(_ look, _, got string) bool { return !strings.HasSuffix(got, " 1") },
	"EACCES or EROFS":         func(_ look, _, got string) bool { return got == "EACCES" || got == "EROFS" },
	"the image's":             func(_ look, _, got string) bool { return strings.Contains(got, " opt ") },
	"the minimal one":         func(l look, _, got string) bool { return got == l.minimalRoot() },
	"one more than the server's": func(l look, key, got string) bool {
		n, err := strconv.Atoi(l.server[key])
		return err == nil && got == strconv.Itoa(n+1)
	},
	"the user's, seen from inside": func(_ look, _, got string) bool {
		groups, err := os.Getgroups()
		return err == nil && len(strings.Fields(got)) == len(groups) && !strings.Contains(" "+got+" ", " 0 ")
	},
}

// resolve puts the word in the place of every value for which it holds. What can't
// be seen of a server in a container is not compared.
func (l look) resolve(t *testing.T, s *server, want facts) {
	t.Helper()
	memory := s.memoryLimit(t)
	for key, word := range want {
		got, there := l.Facts[key]
		holds := words[word]
		switch {
		case word == "within the budget":
			if n := number(got); got == fmt.Sprintf("%d %d", n, n) && n >= memory && n < memory+256<<20 {
				l.Facts[key] = word
			}
		case holds == nil:
		case l.pid == 0 && l.server[key] == "" && strings.Contains(word, "server's"):
			delete(l.Facts, key)
			delete(want, key)
		case there && holds(l, key, got):
			l.Facts[key] = word
		}
	}
}

// slotID: each of the four ids is that of one slot.
func slotID(got string) bool {
	ids := slices.Compact(strings.Fields(got))
	return len(ids) == 1 && number(ids[0]) >= firstUID
}

func number(text string) int64 {
	n, _ := strconv.ParseInt(strings.Fields(text + " -")[0], 10, 64)
	return n
}

func (s *server) memoryLimit(t *testing.T) int64 {
	t.Helper()
	found := regexp.MustCompile(` memory_bytes=(\d+)`).FindStringSubmatch(s.log.String())
	if found == nil {
		t.Fatalf("the log names no limit of memory:\n%s", s.log)
	}
	return number(found[1])
}

// minimalRoot lists what the root directory of namespaces holds on this host.
func (l look) minimalRoot() string {
	names := []string{"dev", "etc", "proc", "tmp", "usr"}
	for _, name := range []string{"bin", "lib", "lib64", "sbin"} {
		if _, err := os.Stat("/" + name); err == nil {
			names = append(names, name)
		}
	}
	for _, prefix := range l.Prefixes {
		names = append(names, strings.Split(prefix, "/")[1])
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}

// hostPaths is what every minimal root holds, where the host has it.
var hostPaths = []string{"/usr", "/lib", "/lib64", "/bin", "/sbin", "/nix/store", "/gnu/store", "/etc/fonts", "/etc/alternatives",
	"/etc/ld.so.cache", "/etc/localtime", "/etc/timezone", "/etc/nsswitch.conf", "/etc/mime.types", "/etc/ssl/openssl.cnf",
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// expectedMounts is a posture's mount table: place and options of each.
func expectedMounts(t *testing.T, posture string, l look) []string {
	t.Helper()
	var want []string
	switch {
	case inContainer():
		return mountTable(l.MountsOfInit)
	case posture == "namespaces":
		want = append(l.minimalMounts(t), "/ ro,nosuid,nodev", "/proc rw,nosuid,nodev,noexec", // the fork servers', covered by
			"/proc ro,nosuid,nodev,noexec hidepid=ptraceable")
		if !older(kernel(t), [2]int{6, 9}) {
			want = append(want, "/dev/mqueue rw,nosuid,nodev,noexec")
		}
	default:
		want = append(mountTable(strings.Split(mustRead(t, "/proc/self/mountinfo"), "\n")), "/proc rw,nosuid,nodev,noexec hidepid=invisible")
	}
	want = append(want, "/tmp rw,nosuid,nodev size=65536k nr_inodes=8192", "/dev/shm rw,nosuid,nodev size=65536k nr_inodes=8192")
	slices.Sort(want)
	return want
}

// minimalMounts are those of the host's files. A link is none, where it leads into
// another of them.
func (l look) minimalMounts(t *testing.T) []string {
	t.Helper()
	var want []string
	for _, path := range append(slices.Clone(hostPaths), outsideOf("/usr", l.Prefixes)...) {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&os.ModeSymlink != 0 {
			continue
		}
		options := "ro,nosuid"
		if info.IsDir() {
			options += ",nodev"
		}
		want = append(want, path+" "+options)
	}
	return want
}

func outsideOf(dir string, paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return path == dir || strings.HasPrefix(path, dir+"/") })
}

// sameFiles: what a program finds at a path of the host is the host's.
func sameFiles(t *testing.T, pid int) {
	t.Helper()
	for _, path := range hostPaths {
		var here, there syscall.Stat_t
		if syscall.Stat(path, &here) != nil {
			continue
		}
		if err := syscall.Stat(fmt.Sprintf("/proc/%d/root%s", pid, path), &there); err != nil || here.Ino != there.Ino {
			t.Errorf("%s: in the program's root another file than here, %v", path, err)
		}
	}
}

// foreign mounts come and go meanwhile, and a posture has no say in them.
var foreign = regexp.MustCompile(`^/(run|var/lib)/`)

// mountTable keeps place and options; of a tmpfs and a proc also what bounds them.
func mountTable(mountinfo []string) []string {
	var table []string
	for _, line := range mountinfo {
		fields := strings.Fields(line)
		if len(fields) < 10 || foreign.MatchString(fields[4]) {
			continue
		}
		options := slices.DeleteFunc(strings.Split(fields[5], ","), func(o string) bool { return strings.HasSuffix(o, "atime") })
		entry := fields[4] + " " + strings.Join(options, ",")
		if slices.Contains([]string{"/proc", "/tmp", "/dev/shm"}, fields[4]) {
			entry = strings.Join(append([]string{entry}, bounding.FindAllString(fields[len(fields)-1], -1)...), " ")
		}
		table = append(table, entry)
	}
	slices.Sort(table)
	return table
}

var bounding = regexp.MustCompile(`hidepid=\w+|size=65536k|nr_inodes=\d+`)
