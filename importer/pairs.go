package importer

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// pair is a line of name=value, with the unit behind the value if there is one: search=31.5ms.
var pair = regexp.MustCompile(`^([^=#\s][^=]*?)\s*=\s*([-+]?[0-9.][0-9.]*(?:[eE][-+]?[0-9]+)?)\s*([^\s0-9=,;"'{}]\S*)?$`)

// isRemark reports whether a line has no value: it is blank, or a comment.
func isRemark(line string) bool { return line == "" || strings.HasPrefix(line, "#") }

// isPairs reports whether the first line that is no remark is a pair.
func isPairs(data []byte) bool {
	for line := range bytes.Lines(data) {
		if text := strings.TrimSpace(string(line[:min(len(line), maxPair)])); !isRemark(text) {
			return pair.MatchString(text)
		}
	}
	return false
}

// maxPair limits a line of name=value, in bytes.
const maxPair = 1000

// pairs reads lines of name=value: one run. The first value of a name belongs to the first
// repetition, the second to the second, and so on.
func (im *importing) pairs(data []byte) error {
	var iterations []run.Iteration
	seen := map[string]int{} // how many values a name has so far
	at := 0
	for line := range bytes.Lines(data) {
		at++
		text := strings.TrimSpace(string(line))
		if isRemark(text) {
			continue
		}
		if len(text) > maxPair {
			return fmt.Errorf("line %d has %d bytes, at most %d are read", at, len(text), maxPair)
		}
		if err := im.pair(text, seen, &iterations); err != nil {
			return fmt.Errorf("line %d: %w", at, err)
		}
	}
	if len(iterations) == 0 {
		return errors.New("there is no line of name=value")
	}
	r := im.newRun("", "", "imported list", nil)
	r.Iterations = iterations
	return im.add(r, 0)
}

func (im *importing) pair(text string, seen map[string]int, to *[]run.Iteration) error {
	parts := pair.FindStringSubmatch(text)
	if parts == nil {
		return fmt.Errorf("%q is not name=value, such as search=31.5ms", prose.Short(text))
	}
	value, err := strconv.ParseFloat(parts[2], 64)
	if err != nil || value-value != 0 {
		return fmt.Errorf("value is %q, want a number such as 31.5", prose.Short(parts[2]))
	}
	name, err := im.listed(parts[1], parts[3])
	if err != nil {
		return err
	}
	n := seen[name]
	if n == run.MaxIterations {
		return fmt.Errorf("%s has more than %d values", prose.Short(parts[1]), run.MaxIterations)
	}
	if seen[name]++; n == len(*to) {
		*to = append(*to, run.Iteration{Metrics: map[string]float64{}})
	}
	if len((*to)[n].Metrics) == run.MaxMetrics {
		return fmt.Errorf("there are more than %d names", run.MaxMetrics)
	}
	(*to)[n].Metrics[name] = value
	return nil
}
