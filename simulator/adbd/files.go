package adbd

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device/adb/wire"
)

// maxFile limits a file that is sent to a phone, in bytes. The file is kept in memory until
// its end, where the protocol has the modification time.
const maxFile = 512 << 20

// fileService is the sync service on one stream.
type fileService struct {
	phone  Phone
	stream io.ReadWriter
	r      *bufio.Reader
	w      *bufio.Writer
}

// errQuit ends the service.
var errQuit = errors.New("the client is done")

// serve answers requests until the client quits or breaks the protocol.
func (s *fileService) serve() {
	s.r = bufio.NewReaderSize(s.stream, 64<<10)
	s.w = bufio.NewWriterSize(s.stream, 64<<10)
	for {
		err := s.serveRequest()
		if flushErr := s.w.Flush(); err != nil || flushErr != nil {
			return
		}
	}
}

func (s *fileService) serveRequest() error {
	id, size, err := wire.ReadSync(s.r)
	if err != nil {
		return err
	}
	if id == wire.SyncQuit {
		return errQuit
	}
	if size > wire.MaxSyncPath {
		s.fail("path too long")
		return wire.ErrMalformed
	}
	name, err := wire.ReadSyncText(s.r, size, wire.MaxSyncPath)
	if err != nil {
		return err
	}
	switch id {
	case wire.SyncStat, wire.SyncStat2, wire.SyncLstat:
		s.stat(id, clean(name))
		return nil
	case wire.SyncList, wire.SyncList2:
		s.list(id, clean(name))
		return nil
	case wire.SyncRecv:
		return s.send(clean(name))
	case wire.SyncRecv2:
		if _, err := s.setUp(wire.SyncRecv2, 4); err != nil {
			return err
		}
		return s.send(clean(name))
	case wire.SyncSend:
		return s.receive(func() (string, fs.FileMode, error) { return splitSend(name) })
	case wire.SyncSend2:
		mode, err := s.setUp(wire.SyncSend2, 8)
		if err != nil {
			return err
		}
		return s.receive(func() (string, fs.FileMode, error) { return asked(name, mode) })
	}
	s.fail(fmt.Sprintf("unknown command %q", id[:]))
	return wire.ErrMalformed
}

// clean makes any path an absolute one without "..".
func clean(name string) string { return path.Clean("/" + name) }

func (s *fileService) stat(id wire.SyncID, name string) {
	var st wire.Stat
	info, err := s.phone.Stat(name)
	if err == nil {
		st = wire.StatOf(info)
	} else {
		st.Error = errnoOf(err)
	}
	if id == wire.SyncStat {
		s.w.Write(wire.AppendStat(nil, st))
		return
	}
	s.w.Write(wire.AppendStat2(nil, id, st))
}

// setUp reads the second part of a version 2 request, after its path: its id again, the mode
// of a sent file, and flags, none of which is supported.
func (s *fileService) setUp(want wire.SyncID, size int) (first uint32, err error) {
	rest := make([]byte, 4+size)
	if _, err := io.ReadFull(s.r, rest); err != nil {
		return 0, err
	}
	flags := binary.LittleEndian.Uint32(rest[size:])
	if wire.SyncID(rest[:4]) != want || flags != 0 {
		s.fail(fmt.Sprintf("unknown flags: %d", flags))
		return 0, wire.ErrMalformed
	}
	return binary.LittleEndian.Uint32(rest[4:]), nil
}

// list lists a directory; an unreadable one is empty, as on a phone.
func (s *fileService) list(id wire.SyncID, name string) {
	entries, _ := s.phone.List(name)
	entry, end := wire.AppendEntry, wire.AppendListEnd
	if id == wire.SyncList2 {
		entry, end = wire.AppendEntry2, wire.AppendListEnd2
	}
	for _, e := range entries {
		s.w.Write(entry(nil, e.Name(), wire.StatOf(e)))
	}
	s.w.Write(end(nil))
}

// send sends a file to the client.
func (s *fileService) send(name string) error {
	file, err := s.phone.Open(name)
	if err != nil {
		s.failure("open failed", err)
		return errQuit // like a phone
	}
	defer file.Close()
	data := make([]byte, wire.MaxSyncData)
	for {
		n, err := file.Read(data)
		if n > 0 {
			s.w.Write(wire.AppendSync(nil, wire.SyncData, uint32(n)))
			if _, err := s.w.Write(data[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			s.w.Write(wire.AppendSync(nil, wire.SyncDone, 0))
			return nil
		}
		if err != nil {
			s.failure("read failed", err)
			return errQuit
		}
	}
}

// receive receives a file from the client. It is read to its end even if the phone rejects it:
// older clients don't read an answer before.
func (s *fileService) receive(asked func() (name string, mode fs.FileMode, err error)) error {
	var contents bytes.Buffer
	seconds, tooLarge, err := s.readFile(&contents)
	if err != nil {
		return err
	}
	name, mode, err := asked()
	switch {
	case err != nil:
		s.fail(err.Error())
	case tooLarge:
		s.fail("write failed: File too large")
	default:
		err = s.create(clean(name), mode, time.Unix(int64(seconds), 0), contents.Bytes())
		if err == nil {
			s.w.Write(wire.AppendSync(nil, wire.SyncOkay, 0))
			return nil
		}
		s.failure("couldn't create file", err)
	}
	return errQuit
}

// readFile reads DATA messages up to DONE, which carries the modification time.
func (s *fileService) readFile(contents *bytes.Buffer) (seconds uint32, tooLarge bool, err error) {
	for {
		id, size, err := wire.ReadSync(s.r)
		switch {
		case err != nil:
			return 0, false, err
		case id == wire.SyncDone:
			return size, tooLarge, nil
		case id != wire.SyncData || size > wire.MaxSyncData:
			s.fail("invalid data message")
			return 0, false, wire.ErrMalformed
		}
		tooLarge = tooLarge || contents.Len()+int(size) > maxFile
		var to io.Writer = contents
		if tooLarge {
			to = io.Discard
		}
		if _, err := io.CopyN(to, s.r, int64(size)); err != nil {
			return 0, false, err
		}
	}
}

// splitSend parses "path,mode": the mode as in struct stat, in any base that C supports.
func splitSend(request string) (name string, mode fs.FileMode, err error) {
	comma := strings.LastIndexByte(request, ',')
	if comma < 0 {
		return "", 0, errors.New("missing , in SEND")
	}
	bits, err := strconv.ParseUint(request[comma+1:], 0, 32)
	if err != nil {
		return "", 0, errors.New("bad mode")
	}
	return asked(request[:comma], uint32(bits))
}

// asked validates a file that a client sends: links are rejected.
func asked(name string, bits uint32) (string, fs.FileMode, error) {
	mode := wire.Stat{Mode: bits}.FileMode()
	if mode&fs.ModeSymlink != 0 {
		return "", 0, errors.New("symlink failed: Operation not permitted")
	}
	return name, mode.Perm(), nil
}

func (s *fileService) create(name string, mode fs.FileMode, modified time.Time, contents []byte) error {
	file, err := s.phone.Create(name, mode, modified)
	if err != nil {
		return err
	}
	_, err = file.Write(contents)
	return errors.Join(err, file.Close())
}

// failure answers with FAIL, with errno's message if the error has one.
func (s *fileService) failure(doing string, err error) {
	text := err.Error()
	if errno := errnoOf(err); errno != wire.EIO {
		text = errno.Error()
	}
	s.fail(doing + ": " + text)
}

func (s *fileService) fail(text string) {
	s.w.Write(wire.AppendSyncString(nil, wire.SyncFail, text))
}

func errnoOf(err error) wire.Errno {
	if errors.Is(err, ErrNoSpace) {
		return wire.ENOSPC
	}
	return wire.ErrnoOf(err)
}
