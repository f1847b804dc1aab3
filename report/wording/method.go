package wording

import (
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
)

// ShortMethod returns a method's name without its package: "MessageView.decode" for
// "com.example.MessageView.decode". A C++ name stays as it is.
func ShortMethod(s string) string {
	s = Name(s)
	if strings.ContainsAny(s, " (:<[/") {
		return s
	}
	last := strings.LastIndexByte(s, '.')
	if last <= 0 {
		return s
	}
	return s[strings.LastIndexByte(s[:last], '.')+1:]
}

// Method returns a method's name in at most n characters: its end, which is the most informative,
// where it is longer.
func Method(s string, n int) string {
	s = Visible(s)
	if prose.Clip(s, n) == s {
		return s
	}
	if short := ShortMethod(s); prose.Clip(short, n-1) == short {
		runes := []rune(s)
		return "…" + string(runes[len(runes)-n+1:])
	}
	return prose.Clip(ShortMethod(s), n)
}
