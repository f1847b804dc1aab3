package importer

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
)

// csvColumns are the columns of a table of results; name and value are required.
var csvColumns = []string{"name", "unit", "value", "repetition"}

// csvHeader returns where each column is, by the first line; ok is false if that is no such header.
func csvHeader(data []byte) (at map[string]int, ok bool) {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	const most = 1000 // bytes of a header
	if len(line) > most {
		return nil, false
	}
	at = map[string]int{}
	for i, title := range strings.Split(strings.TrimSpace(string(line)), ",") {
		title = strings.ToLower(strings.Trim(title, " \""))
		if _, twice := at[title]; twice || !slices.Contains(csvColumns, title) {
			return nil, false
		}
		at[title] = i
	}
	_, name := at["name"]
	_, value := at["value"]
	return at, name && value
}

// csv reads a table of results with a header of name, value and, if wanted, unit and repetition: one
// run, each repetition an iteration, each row a metric of it.
func (im *importing) csv(data []byte) error {
	at, _ := csvHeader(data)
	rows := csv.NewReader(bytes.NewReader(data))
	rows.FieldsPerRecord, rows.ReuseRecord, rows.TrimLeadingSpace = len(at), true, true
	if _, err := rows.Read(); err != nil {
		return err
	}
	var iterations []run.Iteration
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err // it names the line
		}
		line, _ := rows.FieldPos(0)
		if err := im.row(row, at, &iterations); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	if len(iterations) == 0 {
		return errors.New("the table has no row, want one for each value")
	}
	for i, it := range iterations {
		if it.Metrics == nil {
			return fmt.Errorf("there is no row of repetition %d of %d, want all of them", i+1, len(iterations))
		}
	}
	r := im.newRun("", "", "imported list", nil)
	r.Iterations = iterations
	return im.add(r, 0)
}

// row adds the value of a row to its repetition.
func (im *importing) row(row []string, at map[string]int, to *[]run.Iteration) error {
	field := func(column string) string {
		if i, has := at[column]; has {
			return strings.TrimSpace(row[i])
		}
		return ""
	}
	called := field("name")
	if called == "" {
		return errors.New("name is empty, want the metric's name")
	}
	value, err := strconv.ParseFloat(field("value"), 64)
	if err != nil || value-value != 0 {
		return fmt.Errorf("value is %q, want a number such as 31.5", prose.Short(field("value")))
	}
	repetition := 1
	if text := field("repetition"); text != "" {
		if repetition, err = strconv.Atoi(text); err != nil || repetition < 1 || repetition > run.MaxIterations {
			return fmt.Errorf("repetition is %q, want a whole number from 1 to %d", prose.Short(text), run.MaxIterations)
		}
	}
	name, err := im.listed(strings.Clone(called), strings.Clone(field("unit")))
	if err != nil {
		return err
	}
	for len(*to) < repetition {
		*to = append(*to, run.Iteration{})
	}
	it := &(*to)[repetition-1]
	if it.Metrics == nil {
		it.Metrics = map[string]float64{}
	}
	if _, twice := it.Metrics[name]; twice {
		return fmt.Errorf("%s is in repetition %d twice, want it once; the column repetition tells them apart", prose.Short(called), repetition)
	}
	if len(it.Metrics) == run.MaxMetrics {
		return fmt.Errorf("repetition %d has more than %d metrics", repetition, run.MaxMetrics)
	}
	it.Metrics[name] = value
	return nil
}
