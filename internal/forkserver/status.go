package forkserver

// Reason is why an uncaught exception object says that the program ended.
type Reason uint8

// The numbers are those of python/worker.py.
const (
	NoReason Reason = iota
	NoModule
	NoMemory
	NoNetwork
	DiskFull
	NoProcess
)

// Status is the word of a page, taken apart.
type Status struct {
	Started bool // the program has begun
	Done    bool // it came to its end, in its first process
	Exit    int  // 0-255
	Reason  Reason
}

func parseStatus(word uint32) Status {
	s := Status{Started: word&0x200 != 0, Done: word&0x100 != 0, Exit: int(word & 0xFF), Reason: Reason(word >> 16)}
	if s.Reason > NoProcess {
		s.Reason = NoReason
	}
	return s
}
