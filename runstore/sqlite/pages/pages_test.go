package pages

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the driver
)

// made returns a file written by SQLite, with rows of each kind of value: the last one's bytes fill
// many pages.
func made(t *testing.T) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT, n, data BLOB)",
		"INSERT INTO things VALUES (7, 'seven', -300, x'0102'), (9, NULL, 0, NULL), (1099511627776, 'ä', 1099511627775, zeroblob(100000))",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// rows returns those of tables, as text, of all pages.
func rows(src *File, most int) (out []string) {
	r := Reader{Pages: src, Usable: int(src.Bytes)}
	for n := uint32(1); n <= src.Size(); n++ {
		page := bytes.Clone(src.Page(n))
		kind, count := r.Rows(n, page)
		for i := range count {
			row, err := r.Row(n, page, kind, i, most)
			if err != nil || kind != TableLeaf || n == 1 { // the first page has the schema
				continue
			}
			text := fmt.Sprint(row.Number)
			for _, v := range row.Values {
				switch number, isNumber := v.Integer(); {
				case v.IsNull():
					text += " null"
				case isNumber:
					text += fmt.Sprint(" ", number)
				case v.IsText():
					text += fmt.Sprintf(" %q", v.Data)
				case v.IsBlob():
					text += fmt.Sprintf(" %d bytes", len(v.Data))
				}
			}
			out = append(out, text)
		}
	}
	return out
}

func TestRowsAreReadAsSQLiteWroteThem(t *testing.T) {
	src, err := In(made(t))
	if err != nil {
		t.Fatal(err)
	}
	// The column that is the row's number is stored as null.
	want := []string{`7 null "seven" -300 2 bytes`, `9 null null 0 null`, `1099511627776 null "ä" 1099511627775 100000 bytes`}
	if got := rows(src, 1<<20); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got := rows(src, 1000); fmt.Sprint(got) != fmt.Sprint(want[:2]) {
		t.Errorf("rows of at most 1,000 bytes: %q, want %q", got, want[:2])
	}
	if src.Page(0) != nil || src.Page(src.Size()+1) != nil {
		t.Error("there are pages outside of the file")
	}
}

// A page with any changed byte yields rows or none, and never more than it can contain.
func TestNothingThatAPageSaysIsBelieved(t *testing.T) {
	src, err := In(made(t))
	if err != nil {
		t.Fatal(err)
	}
	r := Reader{Pages: src, Usable: int(src.Bytes)}
	page := bytes.Clone(src.Page(2))
	for at := range page {
		broken := bytes.Clone(page)
		broken[at] ^= 0xff
		kind, count := r.Rows(2, broken)
		for i := range count {
			if row, err := r.Row(2, broken, kind, i, 1<<20); err == nil && len(row.Values) > maxColumns {
				t.Fatalf("byte %d: %d columns", at, len(row.Values))
			}
		}
		if count > len(page)/4 {
			t.Fatalf("byte %d: %d rows on a page of %d bytes", at, count, len(page))
		}
	}
}

// Free pages are those of the free list, and none where the list contradicts the file's header.
func TestPagesThatAreGivenUp(t *testing.T) {
	f := made(t)
	db, err := sql.Open("sqlite", f.Name())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("DELETE FROM things WHERE id > 9"); err != nil {
		t.Fatal(err)
	}
	var want int
	if err := db.QueryRow("PRAGMA freelist_count").Scan(&want); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	src, err := In(f)
	if err != nil {
		t.Fatal(err)
	}
	free := Free(src, int(src.Bytes))
	if want < 20 || len(free) != want || free[1] || free[2] {
		t.Errorf("%d pages are free, want %d, none of them the first or second", len(free), want)
	}
}
