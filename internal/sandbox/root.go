package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What every program needs, where it exists: libraries and tools, and of /etc
// the files that libc, OpenSSL, time zones, fonts and MIME types are read from.
// /proc is safe to grant as a whole: Landlock's ptrace hook closes environ,
// mem, maps, fd, cwd, root and exe of every process outside the domain.
var (
	systemDirs  = []string{"/usr", "/lib", "/lib64", "/bin", "/sbin", "/nix/store", "/gnu/store", "/etc/fonts", "/etc/alternatives"}
	systemFiles = []string{"/etc/ld.so.cache", "/etc/localtime", "/etc/timezone", "/etc/nsswitch.conf",
		"/etc/mime.types", "/etc/ssl/openssl.cnf"}
	systemDevices = []string{"/dev/null", "/dev/zero", "/dev/full"}
	randomDevices = []string{"/dev/random", "/dev/urandom"}
)

// Entry is one thing in the minimal root directory of the namespaces posture.
type Entry struct {
	Path string // absolute, the same inside and outside
	Link string // of a symbolic link what it holds; else what is at Path is mounted
	Dir  bool   // what is mounted is a directory
}

// RootEntries lists what a program finds in its root directory besides /proc, /tmp,
// /dev/shm and the files of etcFiles: what every program needs, where it exists, and
// the interpreter. What lies below another entry comes with that.
func RootEntries(read ReadList) []Entry {
	var root []Entry
	for _, path := range slices.Concat(systemDirs, systemFiles, systemDevices, randomDevices) {
		root = addEntry(root, path)
	}
	dirs := slices.Clone(read.Dirs)
	slices.Sort(dirs) // what is above comes first
	for _, path := range slices.Concat(dirs, read.Files) {
		root = addEntry(root, path)
	}
	return root
}

// addEntry makes a link of what leads into what is there already: at once to its end,
// since the names between are not all there. What any other path leads to is mounted
// in its place.
func addEntry(root []Entry, path string) []Entry {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || covers(root, path) {
		return root
	}
	if covers(root, real) {
		return append(root, Entry{Path: path, Link: real})
	}
	info, err := os.Stat(real)
	return append(root, Entry{Path: path, Dir: err == nil && info.IsDir()})
}

func covers(root []Entry, path string) bool {
	return slices.ContainsFunc(root, func(e Entry) bool { return within(e.Path, path) })
}

func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// treesBelow are the mounted ones that a new mount at dir would hide.
func treesBelow(dir string, root []Entry) []Entry {
	return slices.DeleteFunc(slices.Clone(root), func(e Entry) bool { return e.Link != "" || e.Path == dir || !within(dir, e.Path) })
}

// linksBelow are the links that it would hide.
func linksBelow(dir string, root []Entry) []Entry {
	return slices.DeleteFunc(slices.Clone(root), func(e Entry) bool { return e.Link == "" || !within(dir, e.Path) })
}

// parents lists the directories that an entry needs and that are not made yet, from
// the top, itself among them where it is one.
func parents(e Entry, made map[string]bool) []string {
	dir := e.Path
	if !e.Dir {
		dir = filepath.Dir(dir)
	}
	var missing []string
	for ; !made[dir] && dir != "/"; dir = filepath.Dir(dir) {
		made[dir] = true
		missing = append(missing, dir)
	}
	slices.Reverse(missing)
	return missing
}

// etcFiles are written, not mounted: what the host's say is not the program's business.
var etcFiles = map[string]string{
	"/etc/passwd": "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\nsandbox:x:65532:65532:sandbox:/tmp:/bin/sh\n",
	"/etc/group":  "root:x:0:\nsandbox:x:65532:\n",
	"/etc/hosts":  "127.0.0.1 localhost sandbox\n::1 localhost sandbox\n",
}

// rootLinks are the names that software expects in /dev.
var rootLinks = []Entry{
	{Path: "/dev/fd", Link: "/proc/self/fd"},
	{Path: "/dev/stdin", Link: "/proc/self/fd/0"},
	{Path: "/dev/stdout", Link: "/proc/self/fd/1"},
	{Path: "/dev/stderr", Link: "/proc/self/fd/2"},
}
