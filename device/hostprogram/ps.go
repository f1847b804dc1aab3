//go:build unix

package hostprogram

import (
	"strconv"
	"strings"
)

// parsePS parses lines of "ps -o pid=,stat=,lstart=,args=": number, state, five words of a
// date, and the command line, whose arguments are separated only by blanks. Zombies and lines
// of another form are skipped.
func parsePS(text string) (out []Found) {
	const dateAt, argsAt = 2, 7
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) <= argsAt || strings.HasPrefix(words[1], "Z") {
			continue
		}
		pid, err := strconv.Atoi(words[0])
		if err != nil {
			continue
		}
		out = append(out, Found{ID{pid, strings.Join(words[dateAt:argsAt], " ")}, words[argsAt:]})
	}
	return out
}
