package methodtrace

import "time"

// What recording costs. An entry or an exit of an instrumented call is Table 2 of Hubble (OSDI
// 2022), in 64-bit mode on a Pixel 1 with Android 10. The others have no published number: those
// here are invented.
const (
	perInstrumented = 3_366 * time.Nanosecond // an entry, or an exit
	perLowOverhead  = 4 * time.Nanosecond     // an entry, or an exit: a counter, a comparison and two stores
	perSample       = 350 * time.Microsecond  // of ART: it stops all threads and walks all their stacks
)

// Mode is how ART records.
type Mode int

// The modes.
const (
	Instrumented Mode = iota
	Sampled           // every so often
	LongRunning       // `am profile lowoverhead start --longrunning`
	AllMethods        // `am profile lowoverhead start`
)

// Cost returns how much longer a thread takes for work with so many calls because it is recorded;
// every is the interval between two samples.
func (m Mode) Cost(calls int, work, every time.Duration) time.Duration {
	switch m {
	case Instrumented:
		return time.Duration(2*calls) * perInstrumented
	case Sampled:
		return time.Duration(float64(work) / float64(every) * float64(perSample))
	}
	return time.Duration(2*calls) * perLowOverhead
}
