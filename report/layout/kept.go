package layout

import (
	"fmt"
	"math"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
)

// KeptFile is where a reader of the report finds a file that was kept with a run.
type KeptFile struct {
	At string // the path, as shown
	// Open is the command that shows it, for a trace the relevant part; "" for none. OpenAt is the
	// command for a trace to which another part can be appended: --from-ms N --to-ms N.
	Open, OpenAt string
	Links        document.Links
}

// maxKept limits the kept files that are listed.
const maxKept = 200

// keptFile is a file and the run that kept it.
type keptFile struct {
	run.Evidence
	of run.Run
}

// keptWith returns the files of runs, first those that were kept because something went wrong.
func keptWith(runs []run.Run) []keptFile {
	var wrong, others []keptFile
	for _, r := range runs {
		for _, e := range r.Evidence {
			if e.Why != "" {
				wrong = append(wrong, keptFile{e, r})
			} else {
				others = append(others, keptFile{e, r})
			}
		}
	}
	return append(wrong, others...)
}

// keptSection lists the files that were kept with the runs.
func keptSection(in Input) document.Section {
	l := &document.List{
		Noun:  document.Noun{One: "kept file", Many: "kept files"},
		Rooms: document.Rooms{Terminal: document.Room{Open: 5}, Comment: document.Room{Open: 5, Most: 50}, Page: document.Room{Open: 20, Most: maxKept}},
	}
	open := ""
	titles := runTitles(in.Verdict)
	for _, e := range keptWith(in.Runs) {
		file := in.Kept[e.Digest]
		if l.Total++; len(l.Items) < maxKept {
			l.Items = append(l.Items, document.Item{Text: keptText(e, file, titles[e.of.ID]), Links: file.Links})
		}
		if open == "" && e.Kind == run.PerfettoTrace {
			open = file.Open
		}
	}
	if open != "" {
		l.Items = append([]document.Item{{Text: wording.Sentence(open) + " opens the first trace in Perfetto's user interface."}}, l.Items...)
		l.Total++
	}
	return document.Section{ID: "kept", Title: document.Everywhere("Kept with the runs"), Body: l}
}

// runTitles names the runs of a verdict by their ids, where there are several.
func runTitles(v gate.Verdict) map[string]string {
	out := map[string]string{}
	for _, r := range v.Runs {
		if len(v.Runs) > 1 {
			out[r.ID] = runTitle(r, v)
		}
	}
	return out
}

// keptText describes a file: what of the run it shows, what it is, and where. Causes refer to it by
// the first digits of its digest. title is the run's, "" where it is the only one.
func keptText(e keptFile, file KeptFile, title string) string {
	var of []string
	if title != "" {
		of = append(of, title)
	}
	if e.Event != "" {
		of = append(of, wording.Event(e.Event))
	}
	if e.Repetition > 0 {
		of = append(of, fmt.Sprintf("repetition %d", e.Repetition))
	}
	out := strings.Join(of, ", ")
	if e.Why != "" {
		out = strings.TrimPrefix(out+": "+wording.Name(e.Why), ": ")
	}
	what := fmt.Sprintf("%s %s, %s", keptKind(e.Kind), e.Digest[:min(len(e.Digest), 12)], wording.FileSize(e.Bytes))
	out = strings.TrimPrefix(out+" · "+what, " · ")
	if file.At == "" {
		return out + ", not here"
	}
	return out + ", " + wording.Sentence(file.At)
}

// openAt returns the command that opens a kept file at the moment of a cause, "" for none.
func openAt(files map[string]KeptFile) func(diagnose.Link) string {
	return func(l diagnose.Link) string {
		file := files[l.Digest]
		if file.OpenAt == "" || l.ToMS <= 0 {
			return file.Open
		}
		return fmt.Sprintf("%s --from-ms %.0f --to-ms %.0f", file.OpenAt, math.Floor(l.FromMS), math.Ceil(l.ToMS))
	}
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
