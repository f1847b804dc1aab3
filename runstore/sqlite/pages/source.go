package pages

import (
	"context"
	"encoding/binary"
	"os"

	"github.com/apkgate/apkgate/runstore/sqlite/prepared"
)

// opened are the pages of a file that SQLite can open, including its log.
type opened struct {
	ctx   context.Context
	tx    *prepared.Tx
	count uint32
}

// Of returns the pages as they are in the transaction, and how many bytes of each contain rows.
func Of(ctx context.Context, tx *prepared.Tx) (src Source, usable int, err error) {
	all := &opened{ctx: ctx, tx: tx}
	if err := tx.QueryRowContext(ctx, "PRAGMA page_count").Scan(&all.count); err != nil {
		return nil, 0, err
	}
	err = tx.QueryRowContext(ctx, "PRAGMA page_size").Scan(&usable)
	return all, usable, err
}

// Size returns the number of pages.
func (p *opened) Size() uint32 { return p.count }

// Page returns the page of that number.
func (p *opened) Page(n uint32) (data []byte) {
	if err := p.tx.QueryRowContext(p.ctx, "SELECT data FROM sqlite_dbpage WHERE pgno = ?", n).Scan(&data); err != nil {
		return nil
	}
	return data
}

// File is the pages of a file that SQLite can't open.
type File struct {
	file  *os.File
	Bytes int64 // of a page
	count uint32
	buf   []byte
}

// usualPage is the size of pages where the file's header lacks it.
const usualPage = 4096

// In returns the pages of a file.
func In(f *os.File) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	head := make([]byte, 100)
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, err
	}
	size := int64(binary.BigEndian.Uint16(head[16:]))
	if size < 512 || size&(size-1) != 0 || info.Size()%size != 0 {
		size = usualPage
	}
	return &File{file: f, Bytes: size, count: uint32(info.Size() / size), buf: make([]byte, size)}, nil
}

// Size returns the number of pages.
func (p *File) Size() uint32 { return p.count }

// Page returns the page of that number.
func (p *File) Page(n uint32) []byte {
	if n < 1 || n > p.count {
		return nil
	}
	if _, err := p.file.ReadAt(p.buf, int64(n-1)*p.Bytes); err != nil {
		return nil
	}
	return p.buf
}
