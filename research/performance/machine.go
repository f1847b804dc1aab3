package performance

import (
	"crypto/sha256"
	"sort"
	"time"
)

// ReferenceWork does a fixed piece of work of one thread, sorting, hashing and going through
// memory, three times, and returns the processor time of the shortest.
func ReferenceWork() time.Duration {
	best := time.Duration(0)
	for range 3 {
		before := processTime()
		work()
		if took := processTime() - before; best == 0 || took < best {
			best = took
		}
	}
	return best
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
