package spill

// MostTexts limits the bytes of texts that spill.
const MostTexts = 2_000_000_000

// Text is the place of a text among others.
type Text struct {
	At   int64
	Size int32
}

// Texts are concatenated texts of any size. The zero value does not spill.
type Texts struct {
	latest []byte // from base on
	base   int64

	keep int // bytes that are kept in memory, 0 for all
	file file

	part []byte // the part that was last read, from there on
	from int64
}

// Spill limits the bytes in memory.
func (t *Texts) Spill(keep int) { t.keep = keep }

// Len returns the number of bytes.
func (t *Texts) Len() int { return int(t.base) + len(t.latest) }

// Most returns the limit of bytes: inMemory if the texts do not spill.
func (t *Texts) Most(inMemory int) int {
	if t.keep > 0 {
		return MostTexts
	}
	return inMemory
}

// Add adds a text and returns its place.
func (t *Texts) Add(text string) Text {
	if t.keep > 0 && len(t.latest) > 0 && len(t.latest)+len(text) > t.keep {
		t.file.write(t.latest, t.base)
		t.base += int64(len(t.latest))
		t.latest = t.latest[:0]
	}
	place := Text{t.base + int64(len(t.latest)), int32(len(text))}
	t.latest = append(t.latest, text...)
	return place
}

// Of returns the text at a place; "" if it can't be read.
func (t *Texts) Of(place Text) string {
	if at := place.At - t.base; at >= 0 {
		return string(t.latest[at : at+int64(place.Size)])
	}
	end := place.At + int64(place.Size)
	if place.At < t.from || end > t.from+int64(len(t.part)) {
		// The next one requested may be slightly before this.
		const together, before = 64 << 10, 16 << 10
		t.from = max(place.At-before, 0)
		n := int(max(min(t.from+together, t.base), end) - t.from)
		if cap(t.part) < n {
			t.part = make([]byte, n)
		}
		if t.part = t.part[:n]; !t.file.read(t.part, t.from) {
			t.part = t.part[:0]
			return ""
		}
	}
	return string(t.part[place.At-t.from : end-t.from])
}

// Err returns the file's error, an ErrKeep.
func (t *Texts) Err() error { return t.file.Err() }

// Close removes the file.
func (t *Texts) Close() error { return t.file.Close() }
