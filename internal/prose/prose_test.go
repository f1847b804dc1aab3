package prose

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestClip(t *testing.T) {
	for _, c := range []struct {
		s    string
		most int
		want string
	}{
		{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"äöüß", 4, "äöüß"}, {"äöüßx", 4, "äöü…"},
		{"abcd", 1, "…"}, {"abcd", 0, ""}, {"abcd", -1, ""}, {"", 0, ""}, {"日本語の名前", 3, "日本…"}, {"a\xffbcd", 3, "a\xff…"},
	} {
		if got := Clip(c.s, c.most); got != c.want {
			t.Errorf("Clip(%q, %d) is %q, want %q", c.s, c.most, got, c.want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Hour: "1h", 90 * time.Minute: "1h30m", 5 * time.Minute: "5m", 10 * time.Minute: "10m", 90 * time.Second: "1m30s",
		time.Hour + 10*time.Second: "1h0m10s", 10 * time.Second: "10s", 500 * time.Millisecond: "500ms", 0: "0s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestQuote(t *testing.T) {
	for _, c := range []struct {
		s    string
		most int
		want string
	}{{"", 3, `""`}, {"abc", 3, `"abc"`}, {"abcd", 3, `"abc"…`}, {"a\nb", 2, `"a\n"…`}, {"\xff\xff", 2, `"\xff\xff"`}, {"日本語", 2, `"日本"…`}} {
		if got := Quote(c.s, c.most); got != c.want {
			t.Errorf("Quote(%q, %d) is %s, want %s", c.s, c.most, got, c.want)
		}
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		s    string
		most int
		want string
	}{{"", 4, ""}, {"abcd", 4, "abcd"}, {"abcde", 4, "a…"}, {"äöü", 5, "ä…"}, {"äöü", 6, "äöü"}, {"a\xff", 6, "a\uFFFD"}, {"abcd", 3, "…"}, {"abcd", 2, ""}, {"abcd", -1, ""}} {
		if got := Fit(c.s, c.most); got != c.want {
			t.Errorf("Fit(%q, %d) is %q, want %q", c.s, c.most, got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{
		0: "0 runs", 1: "1 run", 2: "2 runs", 9999: "9999 runs", 10_000: "10,000 runs", 1_234_567: "1,234,567 runs",
	} {
		if got := Count(n, "run", "runs"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Plural(1, "is", "are") + Plural(2, "is", "are"); got != "isare" {
		t.Errorf("of one and of two: %q", got)
	}
}

func TestList(t *testing.T) {
	all := strings.Fields("a b c d")
	for n, want := range []string{"", "a", "a and b", "a, b and c", "a, b, c and d"} {
		if got := List(all[:n]); got != want {
			t.Errorf("%d items: %q, want %q", n, got, want)
		}
	}
	for most, want := range map[int]string{1: "a and 3 more", 3: "a, b, c and 1 more", 4: "a, b, c and d"} {
		if got := Few(all, most); got != want {
			t.Errorf("at most %d: %q, want %q", most, got, want)
		}
	}
	shown, more := First(all, 3)
	if _ = append(shown, "x"); more != 1 || !slices.Equal(all, strings.Fields("a b c d")) {
		t.Errorf("%d more, and the list is %q", more, all)
	}
}
