package gfxinfo

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// isSummary reports whether the line can be part of a summary block.
func isSummary(line []byte) bool {
	for _, head := range []string{
		"Stats since:", "Stats end:", "Total frames rendered:", "Janky frames",
		"Number ", "HISTOGRAM:", "GPU HISTOGRAM:",
	} {
		if bytes.HasPrefix(line, []byte(head)) {
			return true
		}
	}
	return isDigit(line[0]) && bytes.Contains(line, []byte("percentile:"))
}

// parse parses one line of a summary block.
func (s *Stats) parse(line []byte) (err error) {
	key, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch name := string(bytes.TrimSpace(key)); {
	case name == "Stats since":
		return readCount(&s.Since, value, name)
	case name == "Stats end":
		return readCount(&s.End, value, name)
	case name == "Total frames rendered":
		err = readCount(&s.Total, value, name)
		s.hasTotal = err == nil
	case name == "Janky frames":
		err = readCount(&s.Janky, value, name)
		s.hasJanky = err == nil
	case name == "Janky frames (legacy)":
		s.LegacyJanky = new(int64)
		return readCount(s.LegacyJanky, value, name)
	case name == "HISTOGRAM":
		s.Histogram, err = parseHistogram(value)
	case name == "GPU HISTOGRAM":
		s.GPUHistogram, err = parseHistogram(value)
	case strings.HasSuffix(name, "th gpu percentile"):
		return readPercentile(&s.GPUPercentiles, name, value)
	case strings.HasSuffix(name, "th percentile"):
		return readPercentile(&s.Percentiles, name, value)
	case strings.HasPrefix(name, "Number "):
		return s.readCounter(name[len("Number "):], value)
	}
	return err
}

// maxCounters limits the distinct "Number …" lines of a block; Android has 7.
const maxCounters = 64

func (s *Stats) readCounter(name string, value []byte) error {
	var v int64
	if err := readCount(&v, value, "Number "+name); err != nil {
		return err
	}
	if s.Counters == nil {
		s.Counters = map[string]int64{}
	}
	if len(s.Counters) < maxCounters {
		s.Counters[name] = v
	}
	return nil
}

// readCount parses the number at the start of value: "113 (21.90%)", "5ns".
func readCount(into *int64, value []byte, name string) error {
	digits := value
	for i, c := range value {
		if c < '0' || c > '9' {
			digits = value[:i]
			break
		}
	}
	v, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return fmt.Errorf("%s: does not begin with a count", name)
	}
	*into = v
	return nil
}

func readPercentile(into *map[int]float64, name string, value []byte) error {
	var rank, ms int64
	if err := readCount(&rank, []byte(name), name); err != nil {
		return err
	}
	if err := readCount(&ms, value, name); err != nil {
		return err
	}
	if rank > 100 {
		return fmt.Errorf("%s: there is no such percentile", name)
	}
	if *into == nil {
		*into = map[int]float64{}
	}
	(*into)[int(rank)] = float64(ms)
	return nil
}

// maxBins limits a histogram; Android prints 154 bins, 26 for the GPU.
const maxBins = 4096

// parseHistogram parses "5ms=19 6ms=27 …", in ascending order.
func parseHistogram(value []byte) ([]Bin, error) {
	var bins []Bin
	for word := range bytes.FieldsSeq(value) {
		label, count, found := bytes.Cut(word, []byte("ms="))
		ms, okMS := parseInt(label)
		n, okN := parseInt(count)
		if !found || !okMS || !okN || ms < 0 || n < 0 {
			return bins, fmt.Errorf("the histogram breaks off after %d bins", len(bins))
		}
		if len(bins) > 0 && ms <= bins[len(bins)-1].MS {
			return bins, fmt.Errorf("the histogram's bins do not rise at %d ms", ms)
		}
		if len(bins) == maxBins {
			return bins, fmt.Errorf("the histogram has more than %d bins", maxBins)
		}
		bins = append(bins, Bin{MS: ms, Count: n})
	}
	return bins, nil
}

// frames returns the sum of a histogram.
func frames(bins []Bin) int64 {
	var n int64
	for _, b := range bins {
		n += b.Count
	}
	return n
}
