package performance

import (
	"crypto/sha256"
	"errors"
	"regexp"
	"sort"
	"time"
)

// Work is how long the reference work took.
type Work struct {
	CPU  time.Duration // processor time
	Wall time.Duration // time that passed: longer where other processes run
}

// ReferenceWork does a fixed piece of work in one thread, sorting, hashing and walking through
// memory, three times, and returns the shortest of each time.
func ReferenceWork() Work {
	var best Work
	for i := range 3 {
		began, used := time.Now(), processTime()
		work()
		took := Work{CPU: processTime() - used, Wall: time.Since(began)}
		if i == 0 {
			best = took
		}
		best.CPU, best.Wall = min(best.CPU, took.CPU), min(best.Wall, took.Wall)
	}
	return best
}

// Speed is how many times as long as on the document's machine the reference work takes.
type Speed struct{ CPU, Wall float64 }

// MaxSpeed is the speed above which the machine is too slow or too busy to judge figures of time:
// the time of one piece of work then says little about others.
const MaxSpeed = 4

// reference matches how long the reference work took on the document's machine.
var reference = regexp.MustCompile(`reference work took (\d+) ms of processor time`)

// ReferenceOf reads how long the reference work took on the document's machine.
func ReferenceOf(document []byte) (time.Duration, error) {
	found := reference.FindSubmatch(document)
	if found == nil {
		return 0, errors.New(`no "reference work took N ms of processor time" in the document`)
	}
	return time.ParseDuration(string(found[1]) + "ms")
}

// SpeedOf compares the reference work with its time on the document's machine. A faster machine has
// to reach the document's figures, and no better ones.
func SpeedOf(w Work, document time.Duration) Speed {
	if document <= 0 {
		return Speed{1, 1}
	}
	of := func(d time.Duration) float64 { return max(d.Seconds()/document.Seconds(), 1) }
	return Speed{CPU: of(w.CPU), Wall: of(w.Wall)}
}

func work() int {
	const numbers, blocks, block, steps = 1 << 20, 1 << 10, 1 << 16, 1 << 20
	values := make([]int, numbers)
	x := uint32(1)
	for i := range values {
		x = x*1664525 + 1013904223 // the constants of Numerical Recipes
		values[i] = int(x >> 8)
	}
	sort.Ints(values)
	data := make([]byte, block)
	for i := range blocks {
		sum := sha256.Sum256(data)
		data[i] = sum[0]
	}
	// Steps through 64 MB that no cache holds: what reads histories and traces waits for memory.
	next := make([]uint32, 1<<24)
	for i := range next {
		next[i] = (uint32(i)*1664525 + 1013904223) % uint32(len(next))
	}
	at := uint32(values[0]) % uint32(len(next))
	for range steps {
		at = next[at]
	}
	return int(data[0]) + int(at)
}
