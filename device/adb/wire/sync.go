package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// SyncID names a request or a response of the sync service (sync.md).
type SyncID [4]byte

// The requests and responses that are used.
var (
	SyncStat  = SyncID{'S', 'T', 'A', 'T'} // lstat; answered by STAT
	SyncStat2 = SyncID{'S', 'T', 'A', '2'} // stat; needs FeatureStat2
	SyncLstat = SyncID{'L', 'S', 'T', '2'} // lstat; needs FeatureStat2
	SyncList  = SyncID{'L', 'I', 'S', 'T'}
	SyncEntry = SyncID{'D', 'E', 'N', 'T'}
	SyncSend  = SyncID{'S', 'E', 'N', 'D'} // path,mode
	SyncRecv  = SyncID{'R', 'E', 'C', 'V'}

	SyncList2  = SyncID{'L', 'I', 'S', '2'} // needs FeatureList2
	SyncEntry2 = SyncID{'D', 'N', 'T', '2'}
	SyncSend2  = SyncID{'S', 'N', 'D', '2'} // path; then the id, mode and flags; needs FeatureSendRecv2
	SyncRecv2  = SyncID{'R', 'C', 'V', '2'} // path; then the id and flags; needs FeatureSendRecv2

	SyncData = SyncID{'D', 'A', 'T', 'A'}
	SyncDone = SyncID{'D', 'O', 'N', 'E'} // its length is a modification time
	SyncOkay = SyncID{'O', 'K', 'A', 'Y'}
	SyncFail = SyncID{'F', 'A', 'I', 'L'}
	SyncQuit = SyncID{'Q', 'U', 'I', 'T'}
)

// Limits of the sync service, in bytes.
const (
	MaxSyncPath = 1024
	MaxSyncData = 64 << 10
	maxSyncText = 64 << 10 // of a FAIL's reason
)

// AppendSync appends a request or response with its number: a length or a time.
func AppendSync(dst []byte, id SyncID, number uint32) []byte {
	return binary.LittleEndian.AppendUint32(append(dst, id[:]...), number)
}

// AppendSyncString appends a request or response with a string.
func AppendSyncString(dst []byte, id SyncID, s string) []byte {
	return append(AppendSync(dst, id, uint32(len(s))), s...)
}

// ReadSync reads the header of a request or response.
func ReadSync(r io.Reader) (id SyncID, number uint32, err error) {
	var b [8]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return id, 0, err
	}
	return SyncID(b[:4]), binary.LittleEndian.Uint32(b[4:]), nil
}

// ReadSyncText reads the string that a request or a FAIL announced. A string of more than
// limit bytes is an error.
func ReadSyncText(r io.Reader, size, limit uint32) (string, error) {
	if size > limit {
		return "", fmt.Errorf("reading a string: %w: %d bytes, at most %d allowed", ErrMalformed, size, limit)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(r, text); err != nil {
		return "", cutShort(err)
	}
	return string(text), nil
}

// SyncFailure is the reason that a device sent with FAIL.
type SyncFailure struct {
	Text string
}

func (f *SyncFailure) Error() string { return fmt.Sprintf("the device says %q", f.Text) }

// ReadSyncFailure reads the reason of a FAIL. It never returns nil.
func ReadSyncFailure(r io.Reader, size uint32) error {
	text, err := ReadSyncText(r, size, maxSyncText)
	if err != nil {
		return fmt.Errorf("reading the reason of a failure: %w", err)
	}
	return &SyncFailure{Text: text}
}

// Stat is the sync service's description of a file.
type Stat struct {
	Mode     uint32 // as in Linux's struct stat
	Size     uint64 // in bytes; version 1 keeps the lower 32 bits
	Modified time.Time
	Error    Errno // version 2 only
}

// Errno is a Linux error number, as stat_v2 sends it.
type Errno uint32

// The error numbers that callers distinguish.
const (
	ENOENT  Errno = 2
	EIO     Errno = 5
	EACCES  Errno = 13
	ENOTDIR Errno = 20
	EISDIR  Errno = 21
	ENOSPC  Errno = 28
)

func (e Errno) Error() string {
	switch e {
	case ENOENT:
		return "No such file or directory"
	case EIO:
		return "I/O error"
	case EACCES:
		return "Permission denied"
	case ENOTDIR:
		return "Not a directory"
	case EISDIR:
		return "Is a directory"
	case ENOSPC:
		return "No space left on device"
	}
	return fmt.Sprintf("error %d", uint32(e))
}

// Is makes errors.Is(ENOENT, fs.ErrNotExist) true, and so on.
func (e Errno) Is(target error) bool {
	switch target {
	case fs.ErrNotExist:
		return e == ENOENT
	case fs.ErrPermission:
		return e == EACCES
	}
	return false
}

// ErrnoOf returns the error number for err that is sent to a client.
func ErrnoOf(err error) Errno {
	var e Errno
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, fs.ErrNotExist):
		return ENOENT
	case errors.Is(err, fs.ErrPermission):
		return EACCES
	}
	return EIO
}

// File types in Stat.Mode.
const (
	modeType    = 0o170000
	modeDir     = 0o040000
	modeRegular = 0o100000
	modeSymlink = 0o120000
)

// RegularMode returns the mode of a regular file with the permissions.
func RegularMode(perm fs.FileMode) uint32 { return modeRegular | uint32(perm.Perm()) }

// FileMode converts Linux's mode to Go's. A mode other than a regular file, a directory or a
// symbolic link is fs.ModeIrregular.
func (s Stat) FileMode() fs.FileMode {
	mode := fs.FileMode(s.Mode & 0o777)
	switch s.Mode & modeType {
	case modeRegular:
	case modeDir:
		mode |= fs.ModeDir
	case modeSymlink:
		mode |= fs.ModeSymlink
	default:
		mode |= fs.ModeIrregular
	}
	return mode
}

// StatOf returns the sync service's description of the file.
func StatOf(info fs.FileInfo) Stat {
	mode := uint32(info.Mode().Perm())
	switch info.Mode().Type() {
	case 0:
		mode |= modeRegular
	case fs.ModeDir:
		mode |= modeDir
	case fs.ModeSymlink:
		mode |= modeSymlink
	}
	return Stat{Mode: mode, Size: uint64(max(info.Size(), 0)), Modified: info.ModTime()}
}

const (
	statSize  = 12 // after the id
	stat2Size = 68 // after the id
)

// AppendStat appends the answer to SyncStat. A file that does not exist is all zeros.
func AppendStat(dst []byte, s Stat) []byte {
	return appendStat(append(dst, SyncStat[:]...), s)
}

func appendStat(dst []byte, s Stat) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, s.Mode)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.Size))
	return binary.LittleEndian.AppendUint32(dst, seconds32(s.Modified))
}

func seconds32(t time.Time) uint32 {
	if t.IsZero() {
		return 0
	}
	return uint32(t.Unix())
}

// AppendStat2 appends the answer to SyncStat2 or SyncLstat, as id says. Device, inode and
// owner are zero.
func AppendStat2(dst []byte, id SyncID, s Stat) []byte {
	var b [stat2Size]byte
	le := binary.LittleEndian
	le.PutUint32(b[0:], uint32(s.Error))
	if s.Error == 0 {
		le.PutUint32(b[20:], s.Mode)
		le.PutUint32(b[24:], 1) // links
		le.PutUint64(b[36:], s.Size)
		for _, at := range [...]int{44, 52, 60} { // accessed, modified, changed
			le.PutUint64(b[at:], uint64(s.Modified.Unix()))
		}
	}
	return append(append(dst, id[:]...), b[:]...)
}

// AppendEntry appends one entry of the answer to SyncList.
func AppendEntry(dst []byte, name string, s Stat) []byte {
	dst = appendStat(append(dst, SyncEntry[:]...), s)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(name)))
	return append(dst, name...)
}

// AppendEntry2 appends one entry of the answer to SyncList2.
func AppendEntry2(dst []byte, name string, s Stat) []byte {
	dst = AppendStat2(dst, SyncEntry2, s)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(name)))
	return append(dst, name...)
}

// AppendListEnd2 appends the end of the answer to SyncList2.
func AppendListEnd2(dst []byte) []byte {
	var rest [stat2Size + 4]byte
	return append(append(dst, SyncDone[:]...), rest[:]...)
}

// AppendListEnd appends the end of the answer to SyncList.
func AppendListEnd(dst []byte) []byte {
	var rest [statSize + 4]byte
	return append(append(dst, SyncDone[:]...), rest[:]...)
}
