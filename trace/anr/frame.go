package anr

import (
	"bytes"
	"strconv"
	"strings"
)

// keep adds a frame to the thread's stack.
func (r *reader) keep(f Frame) {
	if len(r.thread.Frames) >= MaxStack || r.frames >= MaxFrames {
		r.left.frames++
		return
	}
	r.frames++
	r.thread.Frames = append(r.thread.Frames, f)
}

// java parses "android.os.Looper.loop(Looper.java:294)" and "java.lang.Object.wait!(Native
// method)"; the "!" marks methods that ART calls the fast way.
func (r *reader) java(text []byte) {
	open := bytes.LastIndexByte(text, '(')
	if open < 1 {
		r.unknownLine(text)
		return
	}
	name, source := bytes.TrimSuffix(bytes.TrimRight(text[:open], " "), []byte("!")), text[open+1:]
	source, closed := bytes.CutSuffix(source, []byte(")"))
	if !closed {
		r.unknownLine(text) // cut in the middle; the method is complete
	}
	f := Frame{Kind: Java, Name: r.name(name)}
	if bytes.EqualFold(source, []byte("native method")) {
		f.Line = -2
	} else if colon := bytes.LastIndexByte(source, ':'); colon >= 0 {
		f.File = r.name(source[:colon])
		f.Line, _ = digits(bytes.TrimPrefix(source[colon+1:], []byte("~"))) // an approximate line, for Dalvik's innermost frame
	} else {
		f.File = r.name(source)
	}
	r.keep(f)
}

// kernel parses "binder_thread_read+0x36c/0xda1", or the message that there is no kernel stack.
func (r *reader) kernel(text []byte) {
	if len(text) == 0 || text[0] == '(' {
		return // "(couldn't read /proc/self/task/5/stack)": most processes may not read it
	}
	text = bytes.TrimPrefix(text, []byte("[<0>] "))
	name, rest, _ := bytes.Cut(text, []byte("+0x"))
	offset, _, _ := bytes.Cut(rest, []byte("/"))
	f := Frame{Kind: Kernel, Name: r.name(name)}
	f.Offset, _ = strconv.ParseUint(string(offset), 16, 64)
	r.keep(f)
}

// native parses a frame of native code:
//
//	#03 pc 00045247  /system/lib/libbinder.so (android::IPCThreadState::talkWithDriver(bool)+391)
//	#05 pc 000000000200f05c  /memfd:jit-cache (deleted) (offset 0x2000000) (android.os.Looper.loop+476)
//	#12 pc 0000000000222588  /apex/com.android.art/lib64/libart.so (BuildId: e6c658201ef1)
//
// Or the message that the stack could not be walked.
func (r *reader) native(text []byte) {
	if text[0] != '#' {
		r.thread.Unread = true
		return
	}
	_, rest, ok := bytes.Cut(text, []byte(" pc "))
	if !ok {
		r.unknownLine(text)
		return
	}
	address, rest, _ := bytes.Cut(bytes.TrimLeft(rest, " "), []byte(" "))
	pc, err := strconv.ParseUint(string(bytes.TrimPrefix(address, []byte("0x"))), 16, 64)
	if err != nil {
		r.unknownLine(text)
		return
	}
	f := Frame{Kind: Native, PC: pc}
	rest = bytes.TrimSpace(rest)
	if at := bytes.LastIndex(rest, []byte(" (BuildId: ")); at >= 0 {
		f.BuildID = r.name(bytes.TrimSuffix(rest[at+len(" (BuildId: "):], []byte(")")))
		rest = rest[:at]
	}
	library, function := functionOf(rest)
	f.Name, f.Offset = r.function(function)
	f.Library = r.name(libraryOf(library))
	r.keep(f)
}

// functionOf splits off the function in the last brackets of a frame; C++ names contain brackets
// themselves.
func functionOf(text []byte) (library, function []byte) {
	if !bytes.HasSuffix(text, []byte(")")) {
		return text, nil
	}
	depth := 0
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case ')':
			depth++
		case '(':
			depth--
		}
		if depth > 0 {
			continue
		}
		inside := text[i+1 : len(text)-1]
		if i > 0 && text[i-1] != ' ' || string(inside) == "deleted" || bytes.HasPrefix(inside, []byte("offset ")) {
			return text, nil
		}
		return bytes.TrimSpace(text[:i]), inside
	}
	return text, nil
}

// function parses a name and its offset: "android::Looper::pollInner(int)+183".
func (r *reader) function(text []byte) (name string, offset uint64) {
	if string(text) == "???" {
		return "", 0
	}
	if plus := bytes.LastIndexByte(text, '+'); plus > 0 {
		if n, err := strconv.ParseUint(string(bytes.TrimLeft(text[plus+1:], " ")), 10, 64); err == nil {
			return r.name(bytes.TrimRight(text[:plus], " ")), n
		}
	}
	return r.name(text), 0
}

// libraryOf returns a file's path without its suffixes: the offset of the code within the file, and
// that the file was deleted.
func libraryOf(text []byte) []byte {
	if at := bytes.LastIndex(text, []byte(" (offset ")); at >= 0 {
		text = text[:at]
	}
	text = bytes.TrimSuffix(text, []byte(" (deleted)"))
	if at := bytes.LastIndex(text, []byte(" + ")); at >= 0 {
		return text[:at]
	}
	return text
}

// lock parses a monitor that a thread holds or waits for:
//
//   - locked <0x0d3a2f0a> (a java.lang.Object)
//   - waiting to lock <0x0d3a2f0a> (a java.lang.Object) held by thread 5
//   - waiting to lock <0x41b2e6f8> (a java.lang.Object) held by tid=12 (worker)     Android 4
//   - waiting on <@addr=0x13782c90> (a java.lang.Object)
//   - sleeping on <0x09228c2d> (a java.lang.Object)
//   - waiting to lock an unknown object
func (r *reader) lock(text []byte) {
	for _, k := range []struct{ begins, kind string }{
		{"locked ", Held}, {"waiting to lock ", Wanted}, {"waiting on ", WaitedOn}, {"sleeping on ", SleptOn},
	} {
		if rest, ok := bytes.CutPrefix(text, []byte(k.begins)); ok {
			r.keepLock(k.kind, rest)
			return
		}
	}
	r.unknownLine(text)
}

func (r *reader) keepLock(kind string, text []byte) {
	if len(r.thread.Locks) >= MaxStack || r.locks >= MaxLocks {
		r.left.locks++
		return
	}
	r.locks++
	l := Lock{Frame: len(r.thread.Frames) - 1, Kind: kind}
	if id, rest, ok := between(text, "<", ">"); ok {
		l.ID, text = r.name(id), rest
	}
	if class, rest, ok := between(text, "(", ")"); ok {
		l.Class, text = r.name(bytes.TrimPrefix(class, []byte("a "))), rest
	}
	if _, owner, ok := bytes.Cut(text, []byte(" held by ")); ok {
		l.Owner = ownerOf(string(owner))
	}
	r.thread.Locks = append(r.thread.Locks, l)
}

// between returns the text between two marks, the first of which begins it, and the text after
// them.
func between(text []byte, open, end string) (inside, rest []byte, ok bool) {
	text, ok = bytes.CutPrefix(bytes.TrimLeft(text, " "), []byte(open))
	if !ok {
		return nil, text, false
	}
	return bytes.Cut(text, []byte(end))
}

// ownerOf parses the number in "thread 5", "tid=12 (worker)" and "threadid=12 (worker)".
func ownerOf(text string) int {
	for _, begins := range []string{"thread ", "tid=", "threadid="} {
		if rest, ok := strings.CutPrefix(text, begins); ok {
			n, _, _ := numbered([]byte(rest), " ")
			return n
		}
	}
	return 0
}
