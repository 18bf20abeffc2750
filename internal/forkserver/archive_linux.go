package forkserver

import (
	"archive/zip"
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

//go:embed python/*.py
var sources embed.FS

// script is the Python side as an archive that the interpreter executes, in a
// memfd: nothing of it lies where a program could read or replace it.
func script() (*os.File, error) {
	archive, err := zipped()
	if err != nil {
		return nil, fmt.Errorf("zip fork server: %w", err)
	}
	return memfd("fork server", archive)
}

func zipped() ([]byte, error) {
	names, err := fs.Glob(sources, "python/*.py")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, name := range names {
		source, err := sources.ReadFile(name)
		if err != nil {
			return nil, err
		}
		// Stored, not deflated: the interpreter need not load zlib to read it.
		w, err := archive.CreateHeader(&zip.FileHeader{Name: name[len("python/"):], Method: zip.Store})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(source); err != nil {
			return nil, err
		}
	}
	err = archive.Close()
	return out.Bytes(), err
}

// memfd holds data that no one can change any more.
func memfd(name string, data []byte) (*os.File, error) {
	file, err := newMemfd(name)
	if err != nil {
		return nil, err
	}
	if err := fill(file, data); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func newMemfd(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("memfd_create %s: %w", name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// fill writes and seals; the position stays at the beginning.
func fill(file *os.File, data []byte) error {
	if _, err := file.WriteAt(data, 0); err != nil {
		return err
	}
	const seals = unix.F_SEAL_WRITE | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(file.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		return fmt.Errorf("fcntl F_ADD_SEALS %s: %w", file.Name(), err)
	}
	return nil
}
