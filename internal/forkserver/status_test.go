package forkserver

import "testing"

func FuzzStatus(f *testing.F) {
	for _, word := range []uint32{0, 0x100, 0x1FF, 0x10101, 0x60100, 1<<32 - 1} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word uint32) {
		s := parseStatus(word)
		if s.Exit < 0 || s.Exit > 255 || s.Reason > NoProcess {
			t.Errorf("parseStatus(%#x) = %+v", word, s)
		}
	})
}

func TestStatus(t *testing.T) {
	for word, want := range map[uint32]Status{
		0:                  {},
		0x200:              {Started: true},
		0x100:              {Done: true},
		0x103 | 1<<16:      {Done: true, Exit: 3, Reason: NoModule},
		0x1FF | 5<<16:      {Done: true, Exit: 255, Reason: NoProcess},
		0x100 | 6<<16:      {Done: true},
		0x100 | 0xFF01<<16: {Done: true, Reason: NoModule},
	} {
		if got := parseStatus(word); got != want {
			t.Errorf("parseStatus(%#x) = %+v, want %+v", word, got, want)
		}
	}
}
