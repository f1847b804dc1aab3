package sqlite

import (
	"encoding/binary"
	"errors"
)

// What follows reads rows straight off the pages of a file (SQLite's "Database
// File Format", sections 1.5 to 2.3), for a file whose trees lead nowhere: what a
// row says is still there. Nothing that a page says is believed unchecked.

// pageSource gives the pages of a file, the first is 1. A page that can't be had is
// nil. What is returned holds until the next call.
type pageSource interface {
	page(n uint32) []byte
	size() (pages uint32)
}

// The kinds of pages that hold rows.
const (
	indexInterior = 0x02
	indexLeaf     = 0x0a
	tableLeaf     = 0x0d
)

// rawRow is a row as it lies on a page. Of a row of a table, number is its rowid.
type rawRow struct {
	kind   byte
	number int64
	values []rawValue
}

// rawValue is one column: the serial type and the bytes of its content.
type rawValue struct {
	kind uint64
	data []byte
}

func (v rawValue) isNull() bool { return v.kind == 0 }
func (v rawValue) isText() bool { return v.kind >= 13 && v.kind%2 == 1 }
func (v rawValue) isBlob() bool { return v.kind >= 12 && v.kind%2 == 0 }

// integer is the value of an integer column.
func (v rawValue) integer() (n int64, ok bool) {
	switch {
	case v.kind == 8 || v.kind == 9:
		return int64(v.kind - 8), true
	case v.kind < 1 || v.kind > 6:
		return 0, false
	}
	n = int64(int8(v.data[0])) // two's complement, the highest byte first
	for _, b := range v.data[1:] {
		n = n<<8 | int64(b)
	}
	return n, true
}

var errRawRow = errors.New("no row")

// rawReader reads the rows of pages.
type rawReader struct {
	pages  pageSource
	usable int // bytes of a page
}

// cells is how many rows the page says that it holds, and of which kind. Other
// pages hold none.
func (r rawReader) cells(n uint32, page []byte) (kind byte, count int) {
	at := headerOf(n)
	if len(page) < r.usable || r.usable < 480 { // the least that SQLite allows
		return 0, 0
	}
	kind = page[at]
	if kind != indexInterior && kind != indexLeaf && kind != tableLeaf {
		return 0, 0
	}
	count = int(binary.BigEndian.Uint16(page[at+3:]))
	return kind, min(count, r.usable/4) // a row takes two bytes and a pointer at least
}

// headerOf is where the header of a page begins: the first page has the file's
// before it.
func headerOf(n uint32) int {
	if n == 1 {
		return 100
	}
	return 0
}

// row reads the row of that place on a page. Of a long one it follows the pages on
// which it goes on, up to maxBytes.
func (r rawReader) row(n uint32, page []byte, kind byte, i, maxBytes int) (rawRow, error) {
	at, head := headerOf(n), 8
	if kind == indexInterior {
		head = 12
	}
	pointer := at + head + 2*i
	if pointer+2 > r.usable {
		return rawRow{}, errRawRow
	}
	cell := int(binary.BigEndian.Uint16(page[pointer:]))
	if kind == indexInterior {
		cell += 4 // the page to the left
	}
	if cell < at+head || cell >= r.usable {
		return rawRow{}, errRawRow
	}
	rest := page[cell:r.usable]
	length, rest, ok := rawVarint(rest)
	if !ok || length > uint64(maxBytes) {
		return rawRow{}, errRawRow
	}
	out := rawRow{kind: kind}
	if kind == tableLeaf {
		number, after, ok := rawVarint(rest)
		if !ok {
			return rawRow{}, errRawRow
		}
		out.number, rest = int64(number), after
	}
	payload, err := r.payload(rest, int(length), kind == tableLeaf)
	if err == nil {
		out.values, err = rawValues(payload)
	}
	return out, err
}

// payload is the content of a row of that length whose beginning is rest (section
// 1.6, "B-tree Cell Format").
func (r rawReader) payload(rest []byte, length int, ofTable bool) ([]byte, error) {
	most := (r.usable-12)*64/255 - 23
	if ofTable {
		most = r.usable - 35
	}
	local := length
	if length > most {
		least := (r.usable-12)*32/255 - 23
		local = least + (length-least)%(r.usable-4)
		if local > most {
			local = least
		}
	}
	if local < length && local+4 > len(rest) || local > len(rest) {
		return nil, errRawRow
	}
	out := append(make([]byte, 0, length), rest[:local]...)
	if local == length {
		return out, nil
	}
	next := binary.BigEndian.Uint32(rest[local:])
	for len(out) < length { // each page adds to it, so that a circle ends
		page := r.pages.page(next)
		if len(page) < r.usable {
			return nil, errRawRow
		}
		next = binary.BigEndian.Uint32(page)
		out = append(out, page[4:min(r.usable, 4+length-len(out))]...)
	}
	return out, nil
}

// maxRawColumns is more than any table of a history has.
const maxRawColumns = 64

// rawValues reads the columns of a row (section 2.1, "Record Format").
func rawValues(payload []byte) ([]rawValue, error) {
	size, head, ok := rawVarint(payload)
	if !ok || size > uint64(len(payload)) || int(size) < len(payload)-len(head) {
		return nil, errRawRow
	}
	head = payload[len(payload)-len(head) : size]
	body := payload[size:]
	var out []rawValue
	for len(head) > 0 {
		var kind uint64
		if kind, head, ok = rawVarint(head); !ok || len(out) == maxRawColumns {
			return nil, errRawRow
		}
		length := rawLength(kind)
		if length > uint64(len(body)) {
			return nil, errRawRow
		}
		out = append(out, rawValue{kind, body[:length]})
		body = body[length:]
	}
	if len(body) > 0 {
		return nil, errRawRow
	}
	return out, nil
}

func rawLength(kind uint64) uint64 {
	switch {
	case kind >= 12:
		return (kind - 12) / 2
	case kind >= 8:
		return 0
	}
	return [8]uint64{0, 1, 2, 3, 4, 6, 8, 8}[kind]
}

// rawVarint reads an integer of one to nine bytes (section 1.6).
func rawVarint(data []byte) (v uint64, rest []byte, ok bool) {
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

// freePages are the pages that the file has given up: what they hold was removed
// (section 1.5, "The Freelist"). A list that is not what the file's header says is
// damaged, and no page is taken for free.
func freePages(src pageSource, usable int) map[uint32]bool {
	first := src.page(1)
	if len(first) < 100 {
		return nil
	}
	trunk, want := binary.BigEndian.Uint32(first[32:]), binary.BigEndian.Uint32(first[36:])
	free := map[uint32]bool{}
	for trunk > 1 && trunk <= src.size() && !free[trunk] {
		page := src.page(trunk)
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
