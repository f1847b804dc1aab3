package text

import (
	"strings"
	"testing"
)

// A number and its unit stand on one line at every width, also in the words of a
// verdict, which have plain spaces.
func TestNumbersKeepTheirUnits(t *testing.T) {
	const reason = "energy after open-message: 2.55 J where the base has 1.96 J (+31 %, 95 % interval +26 % to +37 %, p < 0.0001) in 20 ms, 3 min and 5 s"
	for width := 20; width < 140; width++ {
		lines := wrap(reason, width)
		for _, line := range lines {
			for _, begins := range []string{"%", "J ", "ms", "min", "s", "<", "0.0001"} {
				if strings.HasPrefix(line, begins) {
					t.Fatalf("at %d columns a line begins with %q: %q", width, begins, line)
				}
			}
		}
		if plainSpaces(strings.Join(lines, " ")) != reason {
			t.Fatalf("at %d columns the lines are not the text: %q", width, lines)
		}
	}
}
