// Package pages reads rows directly from the pages of an SQLite file (SQLite's "Database File
// Format", sections 1.5 to 2.3), for a file whose trees are broken: the rows are still there.
//
// Nothing on a page is trusted unchecked. The package knows no tables: its caller recognizes a row
// by its columns.
package pages

import (
	"encoding/binary"
	"errors"
)

// Source returns the pages of a file, from 1. An unreadable page is nil. The result is valid until
// the next call.
type Source interface {
	Page(n uint32) []byte
	Size() (pages uint32)
}

// The kinds of pages with rows.
const (
	IndexInterior = 0x02
	IndexLeaf     = 0x0a
	TableLeaf     = 0x0d
)

// Row is a row on a page. For a row of a table, number is its rowid.
type Row struct {
	Kind   byte
	Number int64
	Values []Value
}

// Value is one column: the serial type and the bytes of its content.
type Value struct {
	Kind uint64
	Data []byte
}

// IsNull reports whether the value is none.
func (v Value) IsNull() bool { return v.Kind == 0 }

// IsText reports whether the value is a text.
func (v Value) IsText() bool { return v.Kind >= 13 && v.Kind%2 == 1 }

// IsBlob reports whether the value is bytes.
func (v Value) IsBlob() bool { return v.Kind >= 12 && v.Kind%2 == 0 }

// Integer is the value of an integer column.
func (v Value) Integer() (n int64, ok bool) {
	switch {
	case v.Kind == 8 || v.Kind == 9:
		return int64(v.Kind - 8), true
	case v.Kind < 1 || v.Kind > 6:
		return 0, false
	}
	n = int64(int8(v.Data[0])) // two's complement, the highest byte first
	for _, b := range v.Data[1:] {
		n = n<<8 | int64(b)
	}
	return n, true
}

var errRow = errors.New("no row")

// Reader reads the rows of pages.
type Reader struct {
	Pages  Source
	Usable int // bytes of a page
}

// Rows returns how many rows the page claims to have, and their kind. Other pages have none.
func (r Reader) Rows(n uint32, page []byte) (kind byte, count int) {
	at := headerOf(n)
	if len(page) < r.Usable || r.Usable < 480 { // the least that SQLite allows
		return 0, 0
	}
	kind = page[at]
	if kind != IndexInterior && kind != IndexLeaf && kind != TableLeaf {
		return 0, 0
	}
	count = int(binary.BigEndian.Uint16(page[at+3:]))
	return kind, min(count, r.Usable/4) // a row takes at least two bytes and a pointer
}

// headerOf returns where the header of a page begins: on the first page it follows the file's.
func headerOf(n uint32) int {
	if n == 1 {
		return 100
	}
	return 0
}

// Row reads a row by its index on a page. It follows the overflow pages of a long one, up to
// maxBytes.
func (r Reader) Row(n uint32, page []byte, kind byte, i, maxBytes int) (Row, error) {
	at, head := headerOf(n), 8
	if kind == IndexInterior {
		head = 12
	}
	pointer := at + head + 2*i
	if pointer+2 > r.Usable {
		return Row{}, errRow
	}
	cell := int(binary.BigEndian.Uint16(page[pointer:]))
	if kind == IndexInterior {
		cell += 4 // the page to the left
	}
	if cell < at+head || cell >= r.Usable {
		return Row{}, errRow
	}
	rest := page[cell:r.Usable]
	length, rest, ok := varint(rest)
	if !ok || length > uint64(maxBytes) {
		return Row{}, errRow
	}
	out := Row{Kind: kind}
	if kind == TableLeaf {
		number, after, ok := varint(rest)
		if !ok {
			return Row{}, errRow
		}
		out.Number, rest = int64(number), after
	}
	payload, err := r.payload(rest, int(length), kind == TableLeaf)
	if err == nil {
		out.Values, err = values(payload)
	}
	return out, err
}

// payload returns the content of a row of that length that begins with rest (section 1.6, "B-tree
// Cell Format").
func (r Reader) payload(rest []byte, length int, ofTable bool) ([]byte, error) {
	most := (r.Usable-12)*64/255 - 23
	if ofTable {
		most = r.Usable - 35
	}
	local := length
	if length > most {
		least := (r.Usable-12)*32/255 - 23
		local = least + (length-least)%(r.Usable-4)
		if local > most {
			local = least
		}
	}
	if local < length && local+4 > len(rest) || local > len(rest) {
		return nil, errRow
	}
	out := append(make([]byte, 0, length), rest[:local]...)
	if local == length {
		return out, nil
	}
	next := binary.BigEndian.Uint32(rest[local:])
	for len(out) < length { // each page adds to it, so that a cycle ends
		page := r.Pages.Page(next)
		if len(page) < r.Usable {
			return nil, errRow
		}
		next = binary.BigEndian.Uint32(page)
		out = append(out, page[4:min(r.Usable, 4+length-len(out))]...)
	}
	return out, nil
}

// maxColumns is more than any table of a history has.
const maxColumns = 64

// values reads the columns of a row (section 2.1, "Record Format").
func values(payload []byte) ([]Value, error) {
	size, head, ok := varint(payload)
	if !ok || size > uint64(len(payload)) || int(size) < len(payload)-len(head) {
		return nil, errRow
	}
	head = payload[len(payload)-len(head) : size]
	body := payload[size:]
	var out []Value
	for len(head) > 0 {
		var kind uint64
		if kind, head, ok = varint(head); !ok || len(out) == maxColumns {
			return nil, errRow
		}
		length := length(kind)
		if length > uint64(len(body)) {
			return nil, errRow
		}
		out = append(out, Value{kind, body[:length]})
		body = body[length:]
	}
	if len(body) > 0 {
		return nil, errRow
	}
	return out, nil
}

func length(kind uint64) uint64 {
	switch {
	case kind >= 12:
		return (kind - 12) / 2
	case kind >= 8:
		return 0
	}
	return [8]uint64{0, 1, 2, 3, 4, 6, 8, 8}[kind]
}

// varint reads an integer of one to nine bytes (section 1.6).
func varint(data []byte) (v uint64, rest []byte, ok bool) {
	for i := range min(len(data), 9) {
		if i == 8 {
			return v<<8 | uint64(data[i]), data[9:], true
		}
		v = v<<7 | uint64(data[i]&0x7f)
		if data[i] < 0x80 {
			return v, data[i+1:], true
		}
	}
	return 0, nil, false
}

// Free returns the free pages of the file: their content was removed (section 1.5, "The Freelist").
// A list that contradicts the file's header is damaged, and no page is considered free.
func Free(src Source, usable int) map[uint32]bool {
	first := src.Page(1)
	if len(first) < 100 {
		return nil
	}
	trunk, want := binary.BigEndian.Uint32(first[32:]), binary.BigEndian.Uint32(first[36:])
	free := map[uint32]bool{}
	for trunk > 1 && trunk <= src.Size() && !free[trunk] {
		page := src.Page(trunk)
		if len(page) < usable {
			return nil
		}
		count := binary.BigEndian.Uint32(page[4:])
		if count > uint32(usable/4-2) {
			return nil
		}
		free[trunk] = true
		for i := range count {
			free[binary.BigEndian.Uint32(page[8+4*i:])] = true
		}
		trunk = binary.BigEndian.Uint32(page)
	}
	if uint32(len(free)) != want {
		return nil
	}
	return free
}
