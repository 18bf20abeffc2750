//go:build linux

package e2e

import (
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// targets are what an attack may reach for outside the sandbox.
type targets struct {
	TCP      int      `json:"tcp"` // port on 127.0.0.1
	UDP      int      `json:"udp"`
	Unix     string   `json:"unix"` // path of a listener that everybody may connect to
	Datagram string   `json:"datagram"`
	Abstract string   `json:"abstract"` // name, without the leading zero byte
	Private  []string `json:"private"`  // files that no read list names; the first is readable and writable for everybody
	Outside  []string `json:"outside"`  // directories
}

// world is those targets for real. It counts who comes.
type world struct {
	targets
	visits atomic.Int64
}

// systemDirs are where a program must not be able to write.
var systemDirs = []string{"/", "/usr", "/usr/lib", "/usr/local", "/usr/local/bin", "/bin", "/etc", "/var", "/var/tmp", "/run", "/run/lock", "/root", "/home",
	"/opt", "/srv", "/mnt", "/media", "/boot", "/dev", "/dev/mqueue", "/dev/pts", "/proc", "/proc/self", "/sys", "/sys/fs/cgroup", "/sys/kernel"}

// newWorld lays out the targets. In a container an attack sees other files at
// these paths, or none; that they are refused holds there as well.
func newWorld(t *testing.T, control bool) *world {
	w := &world{}
	// Not below /tmp: there a program has a mount of its own on top.
	dir, err := os.MkdirTemp("/var/tmp", "mcp-exec-escape")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w.files(t, dir)
	if control {
		w.Outside = []string{filepath.Join(dir, "open")}
	} else {
		w.Outside = append([]string{filepath.Join(dir, "open")}, systemDirs...)
	}
	w.listeners(t, dir)
	return w
}

func (w *world) files(t *testing.T, dir string) {
	t.Helper()
	open := filepath.Join(dir, "open")
	for _, f := range []struct {
		path string
		mode os.FileMode
	}{{dir, 0o755}, {open, 0o777}} {
		if err := os.MkdirAll(f.path, f.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(f.path, f.mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []struct {
		path string
		mode os.FileMode
	}{{filepath.Join(open, "everybodys"), 0o666}, {filepath.Join(dir, "public"), 0o644}, {filepath.Join(dir, "token"), 0o600}} {
		if err := os.WriteFile(f.path, []byte(tokenCanary+"\n"), f.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(f.path, f.mode); err != nil {
			t.Fatal(err)
		}
		w.Private = append(w.Private, f.path)
	}
}

func (w *world) listeners(t *testing.T, dir string) {
	t.Helper()
	w.Unix, w.Datagram, w.Abstract = filepath.Join(dir, "stream"), filepath.Join(dir, "datagram"), "mcp-exec-"+filepath.Base(dir)
	w.TCP = w.accept(t, "tcp4", "127.0.0.1:0").(*net.TCPAddr).Port
	w.accept(t, "unix", w.Unix)
	w.accept(t, "unix", "@"+w.Abstract)
	w.UDP = w.receive(t, "udp4", "127.0.0.1:0").(*net.UDPAddr).Port
	w.receive(t, "unixgram", w.Datagram)
	for _, path := range []string{w.Unix, w.Datagram} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) accept(t *testing.T, network, address string) net.Addr {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			w.visits.Add(1)
			conn.Close()
		}
	}()
	return l.Addr()
}

func (w *world) receive(t *testing.T, network, address string) net.Addr {
	t.Helper()
	conn, err := net.ListenPacket(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buffer := make([]byte, 64)
		for {
			if _, _, err := conn.ReadFrom(buffer); err != nil {
				return
			}
			w.visits.Add(1)
		}
	}()
	return conn.LocalAddr()
}

func (w *world) visitors() int64 { return w.visits.Load() }
