package evaluation

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/apkgate/apkgate/internal/prose"
)

// Design is the shape of one draw: History runs of Repetitions each, and a new run of New.
type Design struct{ History, Repetitions, New int }

// Limits on a design.
const (
	MaxHistory     = 1000 // runs
	MaxRepetitions = 1000 // of a run
)

var designForm = regexp.MustCompile(`^([0-9]{1,4})x([0-9]{1,4})-([0-9]{1,4})$`)

// ParseDesign parses a design: 9x3-3 is a history of nine runs of three repetitions and a new run
// of three.
func ParseDesign(s string) (Design, error) {
	m := designForm.FindStringSubmatch(s)
	if m == nil {
		return Design{}, fmt.Errorf("the design %q is none, want HxR-N such as 9x3-3: nine runs of three repetitions, and a new run of three", prose.Short(s))
	}
	var n [3]int
	for i := range n {
		n[i], _ = strconv.Atoi(m[i+1]) // at most four digits
	}
	d := Design{n[0], n[1], n[2]}
	if d.History > MaxHistory || d.Repetitions < 1 || d.Repetitions > MaxRepetitions || d.New < 1 || d.New > MaxRepetitions {
		return Design{}, fmt.Errorf("the design %s is out of bounds, want 0 to %d runs of 1 to %d repetitions, and a new run of 1 to %d", s, MaxHistory, MaxRepetitions, MaxRepetitions)
	}
	return d, nil
}

// String returns the design as it is written.
func (d Design) String() string { return fmt.Sprintf("%dx%d-%d", d.History, d.Repetitions, d.New) }
