package ring

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/trace/art"
)

// Version of the file, and the codes of what stands between its records behind a thread of 0
// (art/runtime/trace.cc: kTraceMagic, kOpNewMethod, kOpNewThread, kOpTraceSummary).
const (
	version   = 2
	headSize  = 32
	maxName   = 7_000 // characters of a class or a method in a line that would be too long
	opMethod  = 1
	opThread  = 2
	opSummary = 3
)

// file writes a method trace as ART streams it, thread by thread, as the format allows: the name of
// a method and of a thread stands before its first event, and a summary last. Errors are sticky in
// the writer, whose Flush returns them.
type file struct {
	copied
	b       *bufio.Writer
	numbers map[int]uint32    // of methods in the file, by place
	tids    map[uint32]uint16 // of threads in the file
	scratch []byte

	calls, uncertain int
	first, last      uint64 // ticks of the first and the last event
}

func (f *file) write() {
	head := binary.LittleEndian.AppendUint16([]byte("SLOW"), 0xf0|version)
	head = binary.LittleEndian.AppendUint16(head, headSize)
	head = binary.LittleEndian.AppendUint64(head, uint64((f.trace.Begin+time.Duration(f.from)*Tick)/time.Microsecond))
	_, _ = f.b.Write(append(head, make([]byte, headSize-len(head))...))
	for _, t := range f.threads {
		f.uncertain += t.events(f.from, func(ticks uint64, method int, action art.Action) {
			f.event(f.thread(t), ticks, method, action)
		})
	}
	f.summary()
}

// thread returns the id of a thread in the file, which it names the first time. It has 16 bits there:
// a thread that has more gets a free one.
func (f *file) thread(t copiedThread) uint16 {
	tid, known := f.tids[t.tid]
	if known {
		return tid
	}
	if tid = uint16(t.tid); t.tid == 0 || t.tid > math.MaxUint16 {
		tid = f.free()
	}
	f.tids[t.tid] = tid
	f.counted(binary.LittleEndian.AppendUint16([]byte{0, 0, opThread}, tid), cmp.Or(t.name, fmt.Sprintf("thread %d", t.tid)))
	return tid
}

// free is the highest id of 16 bits that no thread has so far. Threads that have none of their own
// are written last.
func (f *file) free() uint16 {
	used := map[uint16]bool{}
	for _, tid := range f.tids {
		used[tid] = true
	}
	tid := uint16(math.MaxUint16)
	for used[tid] {
		tid--
	}
	return tid
}

// event writes a record.
func (f *file) event(tid uint16, ticks uint64, method int, action art.Action) {
	f.first, f.last = min(f.first, ticks), max(f.last, ticks)
	if action == art.Enter {
		f.calls++
	}
	number, known := f.numbers[method]
	if !known {
		number = uint32(len(f.numbers))
		f.numbers[method] = number
		f.method(number, method)
	}
	b := binary.LittleEndian.AppendUint16(f.scratch[:0], tid)
	b = binary.LittleEndian.AppendUint32(b, number<<2|uint32(action))
	b = binary.LittleEndian.AppendUint32(b, uint32((ticks-f.from)*uint64(Tick/time.Microsecond)))
	f.scratch = b
	_, _ = f.b.Write(b)
}

// method names a method, if the trace did.
func (f *file) method(number uint32, place int) {
	if place < 0 || f.trace.Methods[place].Class == "" {
		return
	}
	m := f.trace.Methods[place]
	text := line(number, m)
	if len(text) > math.MaxUint16 {
		text = line(number, art.Method{Class: prose.Clip(m.Class, maxName), Name: prose.Clip(m.Name, maxName)})
	}
	f.counted([]byte{0, 0, opMethod}, text)
}

// line is a method's (GetMethodInfoLine): without a signature, the number of a line tells that there
// is a name.
func line(number uint32, m art.Method) string {
	head := fmt.Sprintf("%#x\t%s\t", number<<2, m.Class)
	switch {
	case m.Name == "":
		return head + m.File + "\n"
	case m.Signature == "":
		return head + m.Name + "\t\t" + m.File + "\t0\n"
	}
	return head + m.Name + "\t" + m.Signature + "\t" + m.File + "\n"
}

// counted writes a text of at most 65,535 bytes with its length before it.
func (f *file) counted(head []byte, text string) {
	_, _ = f.b.Write(binary.LittleEndian.AppendUint16(head, uint16(len(text))))
	_, _ = f.b.WriteString(text)
}

// summary ends the file.
func (f *file) summary() {
	clock, pid := art.Wall, f.trace.PID
	if f.trace.Clock == art.ThreadCPU {
		clock = art.ThreadCPU
	}
	if tid, ok := f.tids[uint32(pid)]; ok { // the main thread is found by it
		pid = int(tid)
	}
	var s strings.Builder
	fmt.Fprintf(&s, "*version\n%d\ndata-file-overflow=false\nclock=%s\nelapsed-time-usec=%d\nvm=art\npid=%d\n*threads\n", version, clock, f.last-min(f.first, f.last), pid)
	for _, t := range f.threads {
		if tid, ok := f.tids[t.tid]; ok {
			fmt.Fprintf(&s, "%d\t%s\n", tid, t.name)
		}
	}
	s.WriteString("*methods\n*end\n")
	_, _ = f.b.Write(binary.LittleEndian.AppendUint32([]byte{0, 0, opSummary}, uint32(s.Len())))
	_, _ = f.b.WriteString(s.String())
}
