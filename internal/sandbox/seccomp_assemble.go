package sandbox

import (
	"encoding/binary"
	"slices"

	"golang.org/x/net/bpf"
)

// Offsets in struct seccomp_data, little-endian. See seccomp(2).
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// block is a piece of filter of which every path ends in a return, so blocks
// nest and need no labels.
type block []bpf.Instruction

func ret(v verdict) block {
	return block{bpf.RetConstant{Val: uint32(v)}}
}

// jump runs no, or skips it and goes on with what follows, when the test holds.
// A conditional jump reaches 255 instructions; beyond, it leads to a long one.
func jump(test bpf.JumpTest, value uint32, no block) block {
	if len(no) <= 255 {
		return append(block{bpf.JumpIf{Cond: test, Val: value, SkipTrue: uint8(len(no))}}, no...)
	}
	long := block{
		bpf.JumpIf{Cond: test, Val: value, SkipFalse: 1},
		bpf.Jump{Skip: uint32(len(no))},
	}
	return append(long, no...)
}

// dispatch finds the span of the system call number by bisection. The kernel
// runs the filter once per number when it is installed, so a tree is several
// times cheaper there than a list.
func dispatch(spans []span) block {
	if len(spans) == 1 {
		return spans[0].code
	}
	mid := len(spans) / 2
	low, high := dispatch(spans[:mid]), dispatch(spans[mid:])
	return append(jump(bpf.JumpGreaterOrEqual, spans[mid].from, low), high...)
}

// span is a range of system call numbers up to the next span's from.
type span struct {
	from uint32
	code block
}

func (r callRule) block() block {
	b := ret(r.otherwise)
	for _, c := range slices.Backward(r.cases) {
		b = c.block(b)
	}
	return b
}

func (c callCase) block(no block) block {
	b := ret(c.then)
	for _, t := range slices.Backward(c.when) {
		b = t.block(b, no)
	}
	return b
}

// maxValues keeps the jumps between the comparisons of one test short.
const maxValues = 128

// block runs yes when the test holds, else no.
func (t argTest) block(yes, no block) block {
	if len(t.in) > maxValues {
		rest := argTest{t.arg, t.mask, t.in[maxValues:]}
		t.in, no = t.in[:maxValues], rest.block(yes, no)
	}
	b := block{bpf.LoadAbsolute{Off: offArgs + 8*t.arg, Size: 4}}
	if t.mask != 0xffffffff {
		b = append(b, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: t.mask})
	}
	for i, v := range t.in {
		toYes := len(t.in) - i // the comparisons left and the jump to no
		b = append(b, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipTrue: uint8(toYes)})
	}
	b = append(b, bpf.Jump{Skip: uint32(len(yes))})
	return slices.Concat(b, yes, no)
}

// filterProgram checks the architecture first: numbers mean something else in another
// one (int 0x80 on amd64), and no honest program changes it.
func filterProgram(auditArch uint32, spans []span) []bpf.Instruction {
	b := block{bpf.LoadAbsolute{Off: offArch, Size: 4}}
	b = append(b, bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1})
	b = append(b, ret(retKillProcess)...)
	b = append(b, bpf.LoadAbsolute{Off: offNumber, Size: 4})
	return append(b, dispatch(spans)...)
}

// encodeFilter returns an array of struct sock_filter.
func encodeFilter(raw []bpf.RawInstruction) []byte {
	out := make([]byte, 0, 8*len(raw))
	for _, r := range raw {
		out = binary.LittleEndian.AppendUint16(out, r.Op)
		out = append(out, r.Jt, r.Jf)
		out = binary.LittleEndian.AppendUint32(out, r.K)
	}
	return out
}
