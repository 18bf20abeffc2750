package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// newTree makes a directory tree in place of the host's. A name with an arrow is a
// link, one that ends in a slash a directory, else a file.
func newTree(t *testing.T, names ...string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		name, target, link := strings.Cut(name, " -> ")
		path := filepath.Join(top, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case err != nil:
		case link && filepath.IsAbs(target):
			err = os.Symlink(filepath.Join(top, target), path)
		case link:
			err = os.Symlink(target, path)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		default:
			err = os.WriteFile(path, nil, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return top
}

// asSystem has RootEntries begin with these instead of the host's.
func asSystem(t *testing.T, top string, dirs, files []string) {
	t.Helper()
	lists := []*[]string{&systemDirs, &systemFiles, &systemDevices, &randomDevices}
	for i, paths := range [][]string{dirs, files, nil, nil} {
		saved := *lists[i]
		*lists[i] = under(top, paths)
		t.Cleanup(func() { *lists[i] = saved })
	}
}

func under(top string, paths []string) []string {
	var out []string
	for _, path := range paths {
		out = append(out, filepath.Join(top, path))
	}
	return out
}

func TestRootEntries(t *testing.T) {
	names := []string{
		"usr/bin/python3 -> python3.11", "usr/bin/python3.11", "usr/lib/python3.11/", "usr/share/zone/UTC",
		"lib -> usr/lib", "lib64 -> nowhere", "sbin -> other/sbin", "other/sbin/",
		"etc/fonts/", "etc/localtime -> /usr/share/zone/UTC", "etc/mime.types", "etc/timezone -> ../data/zone", "data/zone",
		"home/u/python/bin/python3.13", "home/u/python/bin/python3 -> python3.13", "home/u/python/lib/",
		"home/u/current -> python", "home/u/alias -> current",
		"home/u/venv/bin/python -> /usr/bin/python3", "home/u/venv/lib64 -> lib",
		"opt/first -> second", "opt/second -> /usr/lib/python3.11", "opt/third -> /usr/lib/python3.11/..",
		"opt/py -> /opt/py2", "opt/py2 -> /usr/bin/python3", "opt/loop -> loop", "opt/single",
	}
	tests := []struct {
		name        string
		dirs, files []string
		want        []Entry
	}{
		{"nothing but the system", nil, nil, nil},
		{"the system's python", []string{"usr", "usr/lib/python3.11"}, []string{"usr/bin/python3", "usr/bin/python3.11"}, nil},
		{"in a home", []string{"home/u/python/lib", "home/u/python"}, []string{"home/u/python/bin/python3"},
			[]Entry{{Path: "home/u/python", Dir: true}}},
		{"in a home, by a link that comes first", []string{"home/u/python", "home/u/current"}, []string{"home/u/current/bin/python3"},
			[]Entry{{Path: "home/u/current", Dir: true}, {Path: "home/u/python", Dir: true}}},
		{"in a home, by the name of a file in a linked directory", []string{"home/u/python"}, []string{"home/u/current/bin/python3"},
			[]Entry{{Path: "home/u/python", Dir: true}, {Path: "home/u/current/bin/python3", Link: "home/u/python/bin/python3.13"}}},
		{"a chain of links out", []string{"home/u/alias"}, nil, []Entry{{Path: "home/u/alias", Dir: true}}},
		{"a virtual environment", []string{"home/u/venv", "usr"}, []string{"home/u/venv/bin/python", "usr/bin/python3"},
			[]Entry{{Path: "home/u/venv", Dir: true}}},
		{"a chain of links in", []string{"opt/first"}, nil, []Entry{{Path: "opt/first", Link: "usr/lib/python3.11"}}},
		{"a link that goes up", []string{"opt/third"}, nil, []Entry{{Path: "opt/third", Link: "usr/lib"}}},
		{"a chain of links to a file", nil, []string{"opt/py", "opt/py2"},
			[]Entry{{Path: "opt/py", Link: "usr/bin/python3.11"}, {Path: "opt/py2", Link: "usr/bin/python3.11"}}},
		{"what is not there", []string{"opt/loop", "no/such"}, []string{"no/file", "lib64/python"}, nil},
		{"a file", nil, []string{"opt/single", "opt/single"}, []Entry{{Path: "opt/single"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := newTree(t, names...)
			asSystem(t, top, []string{"usr", "lib", "lib64", "sbin", "bin", "etc/fonts"}, []string{"etc/localtime", "etc/mime.types", "etc/timezone", "etc/none"})
			want := []Entry{
				{Path: "usr", Dir: true}, {Path: "lib", Link: "usr/lib"}, {Path: "sbin", Dir: true}, {Path: "etc/fonts", Dir: true},
				{Path: "etc/localtime", Link: "usr/share/zone/UTC"}, {Path: "etc/mime.types"}, {Path: "etc/timezone"},
			}
			got := RootEntries(ReadList{Dirs: under(top, tt.dirs), Files: under(top, tt.files)})
			linksAreWhole(t, got)
			for i, e := range got {
				got[i].Path, got[i].Link = strings.TrimPrefix(e.Path, top+"/"), strings.TrimPrefix(e.Link, top+"/")
			}
			if diff := cmp.Diff(append(want, tt.want...), got); diff != "" {
				t.Errorf("RootEntries (-want +got):\n%s", diff)
			}
		})
	}
}

// linksAreWhole: what a link names is there, in a tree that is mounted.
func linksAreWhole(t *testing.T, root []Entry) {
	t.Helper()
	mounted := slices.DeleteFunc(slices.Clone(root), func(e Entry) bool { return e.Link != "" })
	for _, e := range root {
		target := e.Link
		if target != "" && !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(e.Path), target)
		}
		if target != "" && !covers(mounted, target) {
			t.Errorf("%s is a link to %s, where nothing is mounted", e.Path, e.Link)
		}
	}
}

// On this host: the same holds, and everything named is there.
func TestRootEntriesOfThisHost(t *testing.T) {
	got := RootEntries(ReadList{Dirs: []string{"/usr/lib", "/no/such/dir"}})
	linksAreWhole(t, got)
	for _, want := range []Entry{{Path: "/usr", Dir: true}, {Path: "/dev/null"}, {Path: "/dev/urandom"}} {
		if !slices.Contains(got, want) {
			t.Errorf("RootEntries = %+v, want it to hold %+v", got, want)
		}
	}
	for _, e := range got {
		for _, closed := range []string{"/", "/etc", "/dev", "/proc", "/home", "/root", "/run", "/var", "/tmp"} {
			if e.Path == closed {
				t.Errorf("a program finds the host's %s", closed)
			}
		}
	}
}

func TestParents(t *testing.T) {
	made := map[string]bool{"/tmp": true}
	for _, tt := range []struct {
		entry Entry
		want  []string
	}{
		{Entry{Path: "/opt/a/python", Dir: true}, []string{"/opt", "/opt/a", "/opt/a/python"}},
		{Entry{Path: "/opt/a/python", Dir: true}, nil},
		{Entry{Path: "/opt/b/file"}, []string{"/opt/b"}},
		{Entry{Path: "/tmp/x/y", Dir: true}, []string{"/tmp/x", "/tmp/x/y"}},
		{Entry{Path: "/file"}, nil},
		{Entry{Path: "/", Dir: true}, nil},
	} {
		if got := parents(tt.entry, made); !slices.Equal(got, tt.want) {
			t.Errorf("parents(%+v) = %q, want %q", tt.entry, got, tt.want)
		}
	}
}

func TestTreesBelow(t *testing.T) {
	root := []Entry{{Path: "/usr", Dir: true}, {Path: "/tmp", Dir: true}, {Path: "/tmp/py", Dir: true}, {Path: "/tmpfile"},
		{Path: "/tmp/link", Link: "/usr"}, {Path: "/tmp/bin/python"}}
	want := []Entry{{Path: "/tmp/py", Dir: true}, {Path: "/tmp/bin/python"}}
	if diff := cmp.Diff(want, treesBelow("/tmp", root)); diff != "" {
		t.Errorf("treesBelow (-want +got):\n%s", diff)
	}
	if len(root) != 6 || root[4].Link == "" {
		t.Errorf("the list itself was changed: %+v", root)
	}
}
