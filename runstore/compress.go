package runstore

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/apkgate/apkgate/run"
)

// A compressed history may expand by maxRatio beyond the size of one record. Histories shrink 10 to
// 50 times; only a file made to fill a disk expands further.
const (
	maxRatio  = 500
	maxWindow = 64 << 20 // bytes of memory that a zstd file may ask for
)

// The first bytes of a gzip member (RFC 1952, section 2.3.1) and of a zstd
// frame (RFC 8878, section 3.1.1).
var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// expand returns the plain text of r, which may be compressed.
func expand(r io.Reader) (plain io.ReadCloser, compressed bool, err error) {
	in := bufio.NewReader(r)
	head, err := in.Peek(len(zstdMagic))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, fmt.Errorf("read the history: %w", err)
	}
	packed := &counter{r: in}
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		z, err := gzip.NewReader(packed)
		if err != nil {
			return nil, true, fmt.Errorf("open the history as gzip: %w", err)
		}
		return &bounded{ReadCloser: z, packed: packed}, true, nil
	case bytes.HasPrefix(head, zstdMagic):
		z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, true, fmt.Errorf("open the history as zstd: %w", err)
		}
		return &bounded{ReadCloser: z.IOReadCloser(), packed: packed}, true, nil
	}
	return io.NopCloser(in), false, nil
}

// counter counts the bytes read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// bounded rejects a small file that expands very far.
type bounded struct {
	io.ReadCloser
	packed *counter
	plain  int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.plain += int64(n)
	if b.plain > run.MaxBytes+maxRatio*b.packed.n {
		return 0, fmt.Errorf("%d compressed bytes expand to more than %d, no history does", b.packed.n, b.plain)
	}
	return n, err
}

// limited rejects a history of more than limit bytes; left are those that may still be read.
type limited struct {
	io.Reader
	limit, left int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("the runs take more than the %d MiB that are allowed, once expanded", l.limit>>20)
	}
	return n, err
}

// Compress returns a writer that compresses to w as the file's name says: gzip
// for .gz, zstd for .zst, nothing otherwise. Closing it ends the compressed
// stream and leaves w open.
func Compress(w io.Writer, name string) (io.WriteCloser, error) {
	switch {
	case strings.HasSuffix(name, ".gz"):
		return gzip.NewWriter(w), nil
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewWriter(w)
		if err != nil {
			return nil, fmt.Errorf("compress %s: %w", name, err)
		}
		return z, nil
	}
	return nopWriteCloser{w}, nil
}

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }
