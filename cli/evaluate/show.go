package evaluate

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/cli/output"
	"github.com/apkgate/apkgate/research/evaluation"
	"github.com/apkgate/apkgate/usecase/terminal"
)

func write(c terminal.Console, r evaluation.Report, format output.Format) error {
	switch format {
	case output.FormatJSON:
		enc := json.NewEncoder(c.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	case output.FormatMarkdown:
		return markdown(c, r)
	}
	return text(c, r)
}

// header are the columns for people.
var header = []string{"what", "worse by", "fails", "95 % interval", "inconclusive", "named", "repetitions"}

// cells returns a row for people.
func cells(r evaluation.Row) []string {
	what := []string{r.Design}
	if r.AcrossSessions {
		what = append(what, "across sessions")
	}
	if r.Metrics > 1 {
		what = append(what, fmt.Sprint(r.Metrics, " metrics"))
	}
	if r.World != "" {
		what = append(what, string(r.World))
	}
	if r.Rule != "" {
		what = append(what, "by "+string(r.Rule))
	}
	named := ""
	if r.Shift > 0 {
		named = percent(r.Named)
	}
	return []string{
		strings.Join(what, ", "), fmt.Sprintf("%g %%", 100*r.Shift), percent(r.Failed),
		fmt.Sprintf("%.1f to %.1f %%", 100*r.FailedLow, 100*r.FailedHigh), percent(r.Inconclusive), named, fmt.Sprintf("%.1f", r.Repetitions),
	}
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// notes describe the basis of the shares.
func notes(r evaluation.Report) []string {
	out := []string{fmt.Sprintf("Preset %s; %d draws a row from %d series; %s.", r.Preset, r.Draws, r.Series, r.Rounds)}
	for _, w := range r.Warnings {
		out = append(out, "Note: "+terminal.Plain(w)+".")
	}
	return out
}

func text(c terminal.Console, r evaluation.Report) error {
	table := terminal.NewTable(c, header...)
	for _, row := range r.Rows {
		if err := table.Append(cells(row)); err != nil {
			return err
		}
	}
	if err := table.Render(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.Stdout, strings.Join(notes(r), "\n"))
	return err
}

func markdown(c terminal.Console, r evaluation.Report) error {
	var out strings.Builder
	fmt.Fprintf(&out, "| %s |\n|---|--:|--:|--:|--:|--:|--:|\n", strings.Join(header, " | "))
	for _, row := range r.Rows {
		fmt.Fprintf(&out, "| %s |\n", strings.Join(cells(row), " | "))
	}
	fmt.Fprintf(&out, "\n%s\n", strings.Join(notes(r), "\n"))
	_, err := fmt.Fprint(c.Stdout, out.String())
	return err
}
