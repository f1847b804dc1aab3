package performance

import (
	"fmt"
	"io"
	"strings"
)

// Row returns a claim's result as a row of a Markdown table: its measured figures, the document's,
// and whether they hold.
func (m Measured) Row() string {
	var now, claimed []string
	for i, f := range m.Claim.Figures {
		claimed = append(claimed, f.String())
		if i < len(m.Values) {
			now = append(now, Figure{Value: m.Values[i], Unit: f.Unit}.String())
		}
	}
	state := "holds"
	switch {
	case m.Err != nil:
		state = "**failed**: " + m.Err.Error()
	case m.Failed():
		state = "**beyond**"
	case m.Busy:
		state = "not judged: the machine is too slow or too busy"
	}
	return fmt.Sprintf("| %s | %s | %s | %s |", m.Claim.Name, strings.Join(now, ", "), strings.Join(claimed, ", "), strings.ReplaceAll(state, "|", `\|`))
}

// Head writes the head of the table of rows.
func Head(w io.Writer) error {
	_, err := fmt.Fprintln(w, "| claim | measured | claimed | |\n|:--|--:|--:|:--|")
	return err
}
