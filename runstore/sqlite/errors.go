package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/runstore/internal/records"
)

// explain converts SQLite's errors to package runstore's errors with a hint. It returns every other
// error as it is.
func explain(err error) error {
	var known *runstore.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return readOnly(err)
	}
	if errors.Is(err, syscall.ENOSPC) {
		return full(err)
	}
	var sqliteErr *sqlite.Error
	if !errors.As(err, &sqliteErr) {
		return err
	}
	if sqliteErr.Code() == lib.SQLITE_IOERR_SHMSIZE { // no room for the index of the log next to the file
		return full(err)
	}
	switch sqliteErr.Code() & 0xff { // the primary code (SQLite's "Result and Error Codes", 2)
	case lib.SQLITE_FULL:
		return full(err)
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		return readOnly(err)
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return &runstore.Error{
			Err:    fmt.Errorf("%w: %w", runstore.ErrBusy, err),
			Advice: "Wait for the other apkgate to end, or end it: nothing that it has acknowledged is lost.",
		}
	case lib.SQLITE_NOTADB:
		return notHistory(err.Error())
	case lib.SQLITE_CORRUPT:
		return records.Damaged(err)
	}
	return err
}

func full(err error) error {
	return &runstore.Error{
		Err:    fmt.Errorf("%w: %w", runstore.ErrFull, err),
		Advice: "Free some space. What was acknowledged before is kept; what was being written is not.",
	}
}

func readOnly(err error) error {
	return &runstore.Error{
		Err:    fmt.Errorf("%w: %w", runstore.ErrReadOnly, err),
		Advice: "Give this user the right to write the file and its directory.",
	}
}
