package config

import (
	"fmt"
	"maps"
	"unicode/utf8"

	"github.com/apkgate/apkgate/internal/prose"
)

// Limits of the scenarios of a Macrobenchmark module.
const (
	maxClasses      = 100
	maxScenarioName = 200 // characters
)

// OfClasses returns the scenarios of the classes of a Macrobenchmark module: copies of this one,
// each of one class and named SCENARIO/CLASS, as in an imported file of results. All are measured
// in one installation.
func (s Scenario) OfClasses(classes []string) ([]Scenario, error) {
	if len(classes) > maxClasses {
		return nil, fmt.Errorf("scenario %s has %d classes, want at most %d", prose.Short(s.Name), len(classes), maxClasses)
	}
	out := make([]Scenario, len(classes))
	for i, class := range classes {
		one := *s.Workload.Instrumentation
		one.Class, one.Classes, one.Args = class, nil, maps.Clone(one.Args)
		out[i] = s
		out[i].Workload.Instrumentation = &one
		out[i].Name, out[i].Module = s.Name+"/"+class, s.Name
		if n := utf8.RuneCountInString(out[i].Name); n > maxScenarioName {
			return nil, fmt.Errorf("the scenario of class %s would have a name of %d characters, want at most %d: shorten the name %s", prose.Short(class), n, maxScenarioName, prose.Short(s.Name))
		}
	}
	return out, nil
}

// onceOfClasses reports a scenario whose classes can't have scenarios of their own.
func (d *decoder) onceOfClasses(lines map[string]int, s Scenario, n *node, path string) {
	w := s.Workload.Benchmark()
	if w == nil || len(w.Classes) == 0 {
		return
	}
	all, err := s.OfClasses(w.Classes)
	if err != nil {
		d.at(n, path, "%v", err)
	}
	for _, one := range all {
		d.once(lines, one.Name, n, "name", path, "scenario named")
	}
}

// classesFit reports a list of classes where it has no meaning.
func (d *decoder) classesFit(n *node, path string, i Instrumentation) {
	at := n.find("classes")
	if at == nil {
		return
	}
	path = join(path, "classes")
	_, twice := i.Args["class"]
	switch {
	case !i.Macrobenchmark:
		d.hinted(at, path, "give class several, separated by commas, to run them as one scenario", "classes are measured one by one of a Macrobenchmark alone: remove the key, or add macrobenchmark: true")
	case i.Class != "" || twice:
		d.at(at, path, "the test class is given twice, by class and by classes")
	}
}
