package run

import "github.com/apkgate/apkgate/metric"

// Catalogue returns base with the metrics that the runs declare and base does
// not hold. Where two runs differ about a metric the later one counts.
func Catalogue(base *metric.Catalogue, runs ...Run) (*metric.Catalogue, error) {
	var more []metric.Metric
	for _, r := range runs {
		for _, d := range r.Declared {
			m, known := base.Lookup(d.Name)
			if known {
				continue
			}
			direction, err := metric.ParseDirection(d.Better)
			if err != nil {
				return nil, err
			}
			m.Unit, m.Direction, m.Of, m.Log = d.Unit, direction, d.Of, d.Scale == Log
			more = append(more, m)
		}
	}
	if len(more) == 0 {
		return base, nil
	}
	return base.With(more...)
}
