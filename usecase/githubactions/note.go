package githubactions

import (
	"fmt"
	"slices"
	"strconv"
)

// Note is an annotation: a finding at a line of the repository.
type Note struct {
	Path        string // relative to the repository's root, with slashes; "" if unknown
	Line        int    // from 1; 0 if only the file is known
	Worse       bool   // a regression; otherwise a suspicion
	Title, Text string // plain text
}

// GitHub shows this many errors and as many warnings of a step.
const maxStepNotes = 10

// located returns the notes that have a file: a check run accepts no others.
func located(notes []Note) []Note {
	return slices.DeleteFunc(slices.Clone(notes), func(n Note) bool { return n.Path == "" })
}

// without returns the notes without a file, which a check run can't show.
func without(notes []Note) []Note {
	return slices.DeleteFunc(slices.Clone(notes), func(n Note) bool { return n.Path != "" })
}

// Annotate writes the notes as workflow commands, up to GitHub's limit for one step; the last of a
// kind counts the remaining ones.
func (r *Runner) Annotate(notes []Note) {
	var worse, doubtful []Note
	for _, n := range notes {
		if n.Worse {
			worse = append(worse, n)
		} else {
			doubtful = append(doubtful, n)
		}
	}
	r.annotate("error", worse)
	r.annotate("warning", doubtful)
}

func (r *Runner) annotate(command string, notes []Note) {
	shown := notes
	if len(notes) > maxStepNotes {
		shown = notes[:maxStepNotes-1]
	}
	for _, n := range shown {
		properties := map[string]string{"title": n.Title}
		if n.Path != "" {
			properties["file"] = n.Path
			properties["line"] = strconv.Itoa(max(n.Line, 1))
		}
		r.command(command, n.Text, properties)
	}
	if rest := len(notes) - len(shown); rest > 0 {
		r.command(command, fmt.Sprintf("%d more findings are in the job summary and in the report", rest), nil)
	}
}
