package sqlite

import (
	"context"
	"encoding/binary"
	"os"
)

// openPages are the pages of a file that SQLite can open, with what its log adds.
type openPages struct {
	ctx   context.Context
	tx    *transaction
	pages uint32
}

// pagesOf gives the pages as they are in the transaction, and how many bytes of
// each hold rows.
func pagesOf(ctx context.Context, tx *transaction) (src *openPages, usable int, err error) {
	src = &openPages{ctx: ctx, tx: tx}
	if err := tx.QueryRowContext(ctx, "PRAGMA page_count").Scan(&src.pages); err != nil {
		return nil, 0, err
	}
	err = tx.QueryRowContext(ctx, "PRAGMA page_size").Scan(&usable)
	return src, usable, err
}

func (p *openPages) size() uint32 { return p.pages }

func (p *openPages) page(n uint32) (data []byte) {
	if err := p.tx.QueryRowContext(p.ctx, "SELECT data FROM sqlite_dbpage WHERE pgno = ?", n).Scan(&data); err != nil {
		return nil
	}
	return data
}

// filePages are the pages of a file that SQLite can't open.
type filePages struct {
	f     *os.File
	bytes int64 // of a page
	pages uint32
	buf   []byte
}

// usualPage is the size of pages where the file's header does not give one.
const usualPage = 4096

func pagesIn(f *os.File) (*filePages, error) {
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
	return &filePages{f: f, bytes: size, pages: uint32(info.Size() / size), buf: make([]byte, size)}, nil
}

func (p *filePages) size() uint32 { return p.pages }

func (p *filePages) page(n uint32) []byte {
	if n < 1 || n > p.pages {
		return nil
	}
	if _, err := p.f.ReadAt(p.buf, int64(n-1)*p.bytes); err != nil {
		return nil
	}
	return p.buf
}
