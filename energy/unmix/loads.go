package unmix

import (
	"slices"
	"sort"
	"time"
)

// row is one reading and the CPU time spent during it.
type row struct {
	recording int
	from, to  time.Duration
	watts     float64
	follows   bool      // the row before is of the time just before
	running   float64   // threads on a CPU, on average
	of        []float64 // the same by distinguished source
}

// rowsOf returns the readings within a recording's spells, since beyond them it is unknown what
// ran, with the CPU time during them for a sensor that is late by at most latest.
func rowsOf(recordings []Recording, place []int, distinct int, late, latest time.Duration) []row {
	var out []row
	for i, r := range recordings {
		if len(r.Spells) == 0 {
			continue
		}
		first, last := r.Spells[0].From, r.Spells[0].To
		for _, s := range r.Spells {
			first, last = min(first, s.From), max(last, s.To)
		}
		begin := len(out)
		for _, reading := range r.Readings {
			if reading.From-latest < first || reading.To > last {
				continue
			}
			n := len(out)
			out = append(out, row{
				recording: i, from: reading.From, to: reading.To, watts: reading.Watts, of: make([]float64, distinct),
				follows: n > begin && reading.From-out[n-1].to < (reading.To-reading.From)/2,
			})
		}
		fill(out[begin:], r.Spells, place, late)
	}
	return out
}

// joinReadings returns the recordings with readings joined down to the limit, and the median duration of
// one.
func joinReadings(recordings []Recording) ([]Recording, time.Duration) {
	count := 0
	for _, r := range recordings {
		count += len(r.Readings)
	}
	out := make([]Recording, len(recordings))
	var lengths []time.Duration
	for i, r := range recordings {
		out[i] = Recording{joined(r.Readings, 1+count/maxReadings), r.Spells}
		for _, reading := range out[i].Readings {
			lengths = append(lengths, reading.To-reading.From)
		}
	}
	if len(lengths) == 0 {
		return out, 0
	}
	slices.Sort(lengths)
	return out, lengths[len(lengths)/2]
}

// joined joins every `many` successive readings.
func joined(readings []Reading, many int) []Reading {
	var out []Reading
	for part := range slices.Chunk(readings, many) {
		sum := Reading{From: part[0].From, To: part[len(part)-1].To}
		for _, r := range part {
			sum.Watts += r.Watts / float64(len(part))
		}
		out = append(out, sum)
	}
	return out
}

// fill distributes spells evenly over the readings that they overlap, for a sensor that is late by
// late.
func fill(rows []row, spells []Spell, place []int, late time.Duration) {
	for _, s := range spells {
		if s.To <= s.From {
			continue
		}
		s.From, s.To = s.From+late, s.To+late
		i := sort.Search(len(rows), func(i int) bool { return rows[i].to > s.From })
		length := (s.To - s.From).Seconds()
		for ; i < len(rows) && rows[i].from < s.To; i++ {
			within := (min(s.To, rows[i].to) - max(s.From, rows[i].from)).Seconds()
			running := s.Seconds * within / length / (rows[i].to - rows[i].from).Seconds()
			rows[i].running += running
			rows[i].of[place[s.Source]] += running
		}
	}
}
