package layout

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
)

// KeptFile is where a reader of the report finds a file that was kept with a run.
type KeptFile struct {
	At string // the path, as it is told
	// Open is the command that opens it, "" for none.
	Open  string
	Links document.Links
}

// maxKept bounds the kept files that are told of.
const maxKept = 200

// keptSection lists the files that were kept with the runs.
func keptSection(in Input) document.Section {
	l := &document.List{
		Noun:  document.Noun{One: "kept file", Many: "kept files"},
		Rooms: document.Rooms{Terminal: document.Room{Open: 5}, Comment: document.Room{Open: 5, Most: 50}, Page: document.Room{Open: 20, Most: maxKept}},
	}
	open := ""
	for _, r := range in.Runs {
		for _, e := range r.Evidence {
			file := in.Kept[e.Digest]
			if l.Total++; len(l.Items) < maxKept {
				l.Items = append(l.Items, document.Item{Text: keptText(r, e, file, len(in.Verdict.Runs) > 1), Links: file.Links})
			}
			if open == "" {
				open = file.Open
			}
		}
	}
	if open != "" {
		l.Items = append([]document.Item{{Text: wording.Sentence(open) + " opens the first trace in Perfetto's user interface."}}, l.Items...)
		l.Total++
	}
	return document.Section{ID: "kept", Title: document.Everywhere("Kept with the runs"), Body: l}
}

// keptText tells of a file: what of the run it shows, what it is, and where. Causes name
// it by the first digits of its digest.
func keptText(r run.Run, e run.Evidence, file KeptFile, several bool) string {
	var of []string
	if several {
		of = append(of, wording.Brief(r.ID))
	}
	if e.Event != "" {
		of = append(of, wording.Event(e.Event))
	}
	if e.Repetition > 0 {
		of = append(of, fmt.Sprintf("repetition %d", e.Repetition))
	}
	out := strings.Join(of, ", ")
	if e.Why != "" {
		out = strings.TrimPrefix(out+": "+wording.Brief(e.Why), ": ")
	}
	what := fmt.Sprintf("%s %s, %s", keptKind(e.Kind), e.Digest[:min(len(e.Digest), 12)], wording.FileSize(e.Bytes))
	out = strings.TrimPrefix(out+" · "+what, " · ")
	if file.At == "" {
		return out + ", not here"
	}
	return out + ", " + wording.Sentence(file.At)
}

// keptKind names a kind of file.
func keptKind(k run.EvidenceKind) string {
	switch k {
	case run.PerfettoTrace:
		return "Perfetto trace"
	case run.ThreadDump:
		return "thread dump"
	case run.Profile:
		return "profile of methods"
	case run.LogExtract:
		return "log"
	case run.Screenshot:
		return "screenshot"
	}
	return wording.Brief(string(k))
}
