package sandbox

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
)

// Step is one system call that a forked process makes to confine itself. The
// list is made here and executed by one short loop in forkserver.py, which
// stops at the first result that is not Want.
type Step struct {
	Name string // for errors and for doctor: "prctl PR_SET_NO_NEW_PRIVS"
	Nr   uintptr
	Args []Arg
	Want int64  // expected result; ignored when Bind or Any is set
	Any  bool   // any result but -1 is right
	Bind string // the result is a descriptor, later named so
}

// Arg is one argument: an Int, Bytes (passed by address) or a FD by name.
type Arg interface{ arg() any }

// Int is passed as it is.
type Int int64

// FD is a descriptor that the process holds under a name.
type FD string

// Bytes is memory that the process fills in; Pointers maps an offset within it
// to further bytes whose address is stored there (struct sock_fprog), FDs to a
// descriptor that is stored there as an int (struct landlock_path_beneath_attr).
type Bytes struct {
	Data     []byte
	Pointers map[int][]byte
	FDs      map[int]FD
}

// Text is a string as the kernel reads it.
func Text(s string) Bytes { return Bytes{Data: append([]byte(s), 0)} }

func (a Int) arg() any { return int64(a) }
func (a FD) arg() any  { return map[string]any{"fd": string(a)} }
func (a Bytes) arg() any {
	out := map[string]any{"bytes": base64.StdEncoding.EncodeToString(a.Data)}
	if len(a.Pointers) > 0 {
		pointers := map[string]string{}
		for offset, data := range a.Pointers {
			pointers[strconv.Itoa(offset)] = base64.StdEncoding.EncodeToString(data)
		}
		out["pointers"] = pointers
	}
	if len(a.FDs) > 0 {
		fds := map[string]string{}
		for offset, name := range a.FDs {
			fds[strconv.Itoa(offset)] = string(name)
		}
		out["fds"] = fds
	}
	return out
}

// MarshalJSON is the form that forkserver.py reads: name, number, arguments,
// wanted result (null: any but -1), name of the bound descriptor (or null).
func (s Step) MarshalJSON() ([]byte, error) {
	args := make([]any, len(s.Args))
	for i, a := range s.Args {
		args[i] = a.arg()
	}
	var want, bind any
	if !s.Any && s.Bind == "" {
		want = s.Want
	}
	if s.Bind != "" {
		bind = s.Bind
	}
	return json.Marshal([]any{s.Name, s.Nr, args, want, bind})
}
