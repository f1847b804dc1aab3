package recording

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Kinds of words that are blacked out.
const (
	Serials   = "serial numbers"
	Accounts  = "accounts"
	Networks  = "Wi-Fi names"
	Addresses = "network addresses"
	Packages  = "other packages"
	Names     = "names of the device"
	Named     = "words that were named"
)

// Blackout replaces confidential words in a recording. A word is replaced by another of the
// same length and form, the same everywhere: a table keeps its columns, a Perfetto message its
// length, and a command that followed from an answer still does. The original can't be
// recovered without the key, which is not stored.
//
// It may be used concurrently.
type Blackout struct {
	key []byte

	mu        sync.Mutex
	words     []word // the longest first
	protected []string
	exempt    []string                   // words that are never learned, as they identify the model
	seen      map[string]map[string]bool // words by kind
	places    map[string]int             // by kind
}

// word is a learned word.
type word struct {
	text, kind string
	// quoted is set for a word so common that it is replaced between quotation marks only.
	quoted bool
}

// NewBlackout returns a Blackout that keeps the protected words, such as the app's package.
func NewBlackout(protected ...string) *Blackout {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	b := &Blackout{key: key, seen: map[string]map[string]bool{}, places: map[string]int{}}
	for _, p := range protected {
		if p != "" {
			b.protected = append(b.protected, p)
		}
	}
	return b
}

// Limits on the length of words, in bytes, and on their number. A shorter word would match
// many unrelated ones.
const (
	minWord  = 3
	maxWord  = 255
	maxWords = 20_000
)

// common are words that dumps use themselves. A network or a phone with such a name is
// replaced between quotation marks only, and so is a name shorter than five letters.
var common = []string{
	"active", "android", "battery", "bluetooth", "cellular", "connected", "default", "device", "display", "enabled", "false", "google", "guest",
	"internet", "linux", "local", "mobile", "network", "normal", "phone", "private", "public", "release", "samsung", "screen", "service", "shell",
	"start", "state", "system", "unknown", "wireless", "xiaomi",
}

// Learn adds words of a kind.
func (b *Blackout) Learn(kind string, texts ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range texts {
		text = strings.TrimSpace(text)
		if len(text) < minWord || len(text) > maxWord || text == "null" || text == "unknown" || len(b.words) >= maxWords {
			continue
		}
		known := func(w word) bool { return w.text == text }
		if slices.Contains(b.protected, text) || slices.Contains(b.exempt, text) || slices.ContainsFunc(b.words, known) {
			continue
		}
		b.words = append(b.words, word{text, kind, len(text) < 5 || slices.Contains(common, strings.ToLower(text))})
	}
	slices.SortStableFunc(b.words, func(a, b word) int { return cmp.Compare(len(b.text), len(a.text)) })
}

// pattern matches words by their form, without learning them: the group of the expression, in
// texts that contain the marker.
type pattern struct {
	kind, marker string
	what         *regexp.Regexp
}

var patterns = []pattern{
	{Addresses, "inet6 ", regexp.MustCompile(`inet6 ([0-9a-f:]{3,39})\b`)},
	{Networks, "SSID", regexp.MustCompile(`SSID[=:] ?"([^"\n]{1,64})"`)},
	{Networks, "SSID: ", regexp.MustCompile(`(?:^|[^B])SSID: ([^",\n<]{1,64}),`)},
	{Serials, "]: [", regexp.MustCompile(`(?m)^\[[a-z0-9_.]{0,80}(?:serialno|imei|meid|iccid|imsi|btmac|bdaddr|wifimac|macaddress|uniqueno|chipid)[a-z0-9_.]{0,20}\]: \[([^\]\n]{3,255})\]`)},
	{Names, "]: [", regexp.MustCompile(`(?m)^\[(?:net\.hostname|gsm\.(?:sim\.)?operator\.(?:alpha|numeric)|persist\.sys\.(?:device_name|usb\.serial))\]: \[([^\]\n]{3,255})\]`)},
}

// Bytes returns the text, of the same length, with confidential words replaced.
func (b *Blackout) Bytes(text []byte) []byte {
	out, _ := b.apply(text)
	return out
}

// apply is Bytes, and also returns where the text was replaced.
func (b *Blackout) apply(text []byte) (out []byte, done spans) {
	out = bytes.Clone(text)
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := b.protectedIn(text)
	replace := func(from, to int, kind string) {
		if from >= 0 && to > from && !kept.overlap(from, to) && bytes.Equal(out[from:to], text[from:to]) {
			b.replace(out[from:to], string(text[from:to]), kind)
			done = append(done, span{from, to})
		}
	}
	for _, s := range mails(text) {
		replace(s.from, s.to, Accounts)
	}
	if bytes.IndexByte(text, 0) < 0 { // text only; a trace contains none of these
		for _, s := range addresses(text) {
			replace(s.from, s.to, Addresses)
		}
		for _, p := range patterns {
			if !bytes.Contains(text, []byte(p.marker)) {
				continue
			}
			for _, m := range p.what.FindAllSubmatchIndex(text, -1) {
				if from, to := m[len(m)-2], m[len(m)-1]; from >= 0 && anonymous(string(text[from:to])) {
					replace(from, to, p.kind)
				}
			}
		}
	}
	for _, w := range b.words {
		for _, s := range occurrences(text, w) {
			replace(s.from, s.to, w.kind)
		}
	}
	return out, done
}

// mails returns where a text contains mail addresses, which accounts are named by.
func mails(text []byte) (out spans) {
	is := func(c byte, more string) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(more, c) >= 0
	}
	for at := bytes.IndexByte(text, '@'); at >= 0 && at < len(text); {
		from, to := at, at+1
		for from > 0 && at-from < 64 && is(text[from-1], "._%+-") {
			from--
		}
		for to < len(text) && to-at < 190 && is(text[to], ".-") {
			to++
		}
		domain := strings.TrimRight(string(text[at+1:to]), ".-")
		if from < at && domainName.MatchString(domain) {
			out = append(out, span{from, at + 1 + len(domain)})
		}
		next := bytes.IndexByte(text[to:], '@')
		if next < 0 {
			break
		}
		at = to + next
	}
	return out
}

// macs matches six pairs of hexadecimal digits.
var macs = regexp.MustCompile(`^[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}$`)

// numbered matches an IPv4 address after a word that identifies it as an address: without the
// word it may be a version.
var numbered = regexp.MustCompile(`(?i)(?:inet|addr|address|addresses|dns|gateway|server|via|src)[a-z]{0,8}[ =:\[/{]{1,3}((?:[0-9]{1,3}\.){3}[0-9]{1,3})$`)

// addresses returns where a text contains network addresses.
func addresses(text []byte) (out spans) {
	const mac, before = len("00:11:22:33:44:55"), 30
	for from := 0; ; {
		i := bytes.IndexByte(text[from:], ':')
		if i < 0 {
			break
		}
		at := from + i - 2
		from += i + 1
		if at < 0 || at+mac > len(text) || text[at+5] != ':' || text[at+8] != ':' || !macs.Match(text[at:at+mac]) {
			continue
		}
		if anonymous(string(text[at:at+mac])) && !within(text, at, at+mac) {
			out = append(out, span{at, at + mac})
		}
		from = at + mac
	}
	digit := func(at int) bool { return at >= 0 && at < len(text) && text[at] >= '0' && text[at] <= '9' }
	for from := 0; ; {
		i := bytes.IndexByte(text[from:], '.')
		if i < 0 {
			return out
		}
		at := from + i
		from = at + 1
		if !digit(at-1) || !digit(at+1) {
			continue
		}
		start, end := at, at
		for digit(start-1) || start > 0 && text[start-1] == '.' {
			start--
		}
		for digit(end) || end < len(text) && text[end] == '.' && digit(end+1) {
			end++
		}
		if m := numbered.FindSubmatchIndex(text[max(start-before, 0):end]); m != nil && anonymous(string(text[start:end])) {
			out = append(out, span{start, end})
		}
		from = max(end, from)
	}
}

// domainName matches the part after the @ of an address. For a service, such as
// android.hardware.power@1.3-service, a number follows the @.
var domainName = regexp.MustCompile(`^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}$`)

// anonymous reports whether an address identifies nobody.
func anonymous(address string) bool {
	return address != "127.0.0.1" && address != "0.0.0.0" && address != "00:00:00:00:00:00" && address != "02:00:00:00:00:00" &&
		strings.Trim(address, ":0fF") != "" && address != "::1"
}

// occurrences returns where a text contains the word, except as part of a longer one.
func occurrences(text []byte, w word) (out spans) {
	for from := 0; ; {
		i := bytes.Index(text[from:], []byte(w.text))
		if i < 0 {
			return out
		}
		at, to := from+i, from+i+len(w.text)
		from = at + 1
		quoted := at > 0 && to < len(text) && text[at-1] == '"' && text[to] == '"'
		if w.quoted && !quoted || within(text, at, to) {
			continue
		}
		out, from = append(out, span{at, to}), to
	}
}

// within reports whether the range is part of a longer word.
func within(text []byte, from, to int) bool {
	letter := func(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' }
	return from > 0 && letter(text[from-1]) && letter(text[from]) || to < len(text) && letter(text[to]) && letter(text[to-1])
}

// replace writes the word's replacement in its place.
func (b *Blackout) replace(to []byte, text, kind string) {
	if b.seen[kind] == nil {
		b.seen[kind] = map[string]bool{}
	}
	b.seen[kind][text] = true
	b.places[kind]++
	copy(to, b.other(text, kind))
}

// other returns a replacement of the same form: letters for letters, digits for digits,
// hexadecimal digits in an address.
func (b *Blackout) other(text, kind string) []byte {
	letters := byte(26)
	if kind == Addresses {
		letters = 6
	}
	out := []byte(text)
	var block []byte
	for i, c := range out {
		if i%sha256.Size == 0 {
			sum := hmac.New(sha256.New, b.key)
			_ = binary.Write(sum, binary.BigEndian, uint32(i))
			_, _ = io.WriteString(sum, strings.ToLower(text))
			block = sum.Sum(nil)
		}
		r := block[i%sha256.Size]
		switch {
		case c >= 'a' && c <= 'z':
			out[i] = 'a' + r%letters
		case c >= 'A' && c <= 'Z':
			out[i] = 'A' + r%letters
		case c >= '0' && c <= '9':
			out[i] = '0' + r%10
		case c >= 0x80:
			out[i] = 'x'
		}
	}
	return out
}

// span is a range of a text.
type span struct{ from, to int }

type spans []span

// overlap reports whether a span overlaps the range.
func (s spans) overlap(from, to int) bool {
	i, _ := slices.BinarySearchFunc(s, from, func(p span, at int) int { return cmp.Compare(p.to, at+1) })
	return i < len(s) && s[i].from < to
}

// protectedIn returns where the text contains protected words, in order.
func (b *Blackout) protectedIn(text []byte) (out spans) {
	for _, p := range b.protected {
		for from := 0; ; {
			i := bytes.Index(text[from:], []byte(p))
			if i < 0 {
				break
			}
			out = append(out, span{from + i, from + i + len(p)})
			from += i + len(p)
		}
	}
	slices.SortFunc(out, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(out); i++ { // a word may contain another
		out[i].to = max(out[i].to, out[i-1].to)
	}
	return out
}

// String is Bytes for a string.
func (b *Blackout) String(text string) string { return string(b.Bytes([]byte(text))) }

// Copy copies a file, whose words may cross the boundary of two reads.
func (b *Blackout) Copy(w io.Writer, r io.Reader) (int64, error) {
	const block, most = 4 << 20, 2 * maxWord
	var written int64
	var rest []byte
	for buffer := make([]byte, block); ; {
		n, err := io.ReadFull(r, buffer)
		rest = append(rest, buffer[:n]...)
		last := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			return written, err
		}
		out, done := b.apply(rest)
		ready := len(rest)
		if !last {
			ready = cut(done, ready-most)
		}
		n, err = w.Write(out[:ready])
		written += int64(n)
		if err != nil || last {
			return written, err
		}
		rest = append(rest[:0], rest[ready:]...)
	}
}

// cut returns the last offset up to at where the text can be split without splitting a
// replaced word.
func cut(done spans, at int) int {
	for moved := true; moved; {
		moved = false
		for _, s := range done {
			if s.from < at && at < s.to {
				at, moved = s.from, true
			}
		}
	}
	return max(at, 0)
}

// Report returns what was blacked out.
func (b *Blackout) Report() (out []Blacked) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, kind := range slices.Sorted(maps.Keys(b.places)) {
		out = append(out, Blacked{kind, len(b.seen[kind]), b.places[kind]})
	}
	return out
}
