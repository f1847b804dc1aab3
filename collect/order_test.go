package collect

import (
	"fmt"
	"math"
	"testing"
)

// Either build is first equally often, whatever the rounds before; the draw differs by device and
// session, and is the same for the same ones.
func TestHeadFirst(t *testing.T) {
	const n = 4000
	counts := map[string]int{}
	for session := range n / 40 {
		job, other := Job{Session: fmt.Sprint("run-", session), Device: "pixel"}, Job{Session: fmt.Sprint("run-", session), Device: "nexus"}
		for round := 1; round <= 40; round++ {
			now := headFirst(job, round)
			for what, is := range map[string]bool{
				"the head is first":             now,
				"as in the round before":        now == headFirst(job, round+1),
				"as two rounds before":          now == headFirst(job, round+2),
				"as four rounds before":         now == headFirst(job, round+4),
				"as on another device":          now == headFirst(other, round),
				"as in the round of last night": now == headFirst(Job{Session: fmt.Sprint("run-", session+1), Device: "pixel"}, round),
			} {
				if is {
					counts[what]++
				}
			}
			if now != headFirst(job, round) {
				t.Fatal("the same round is drawn otherwise")
			}
		}
	}
	for what, times := range counts {
		if z := (float64(times) - n/2) / math.Sqrt(n/4); math.Abs(z) > 4 {
			t.Errorf("%s in %d of %d rounds", what, times, n)
		}
	}
}
