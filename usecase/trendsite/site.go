package trendsite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/trend"
	"github.com/apkgate/apkgate/internal/version"
	"github.com/apkgate/apkgate/metric"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/html"
	"github.com/apkgate/apkgate/report/layout"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/report/trends"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/judging"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// The files of a site.
const (
	indexFile  = "index.html"
	dataFile   = "trend.json"
	runsFolder = "runs"
	scenarios  = "scenarios"
	listFile   = "reports.json" // in runsFolder
)

// mostReports limits the reports that a site keeps: a line stays of the oldest ones.
const mostReports = 500

// kept is the list of a site's reports, newest first.
type kept struct {
	Format  string     `json:"format"`
	Reports []keptPage `json:"reports"`
}

const keptFormat = "apkgate.trend-reports/1"

// keptPage is a report that the site keeps.
type keptPage struct {
	File      string    `json:"file"`
	Title     string    `json:"title"`
	Scenarios []string  `json:"scenarios"` // none: unknown, as of a refresh
	Added     time.Time `json:"added"`
	Runs      []string  `json:"runs"`
}

// Site writes the pages of a trend into a folder, and adds the saved verdicts in the files: those
// that are a regression get a page of their own, which stays, as nights and judged builds do. Pages
// that are there are replaced one by one, the index after all that it leads to; what no page leads
// to any more is removed last.
func Site(ctx context.Context, c terminal.Console, s runstore.Store, set settings.Settings, in trends.Input, folder string, verdicts []string) error {
	list, err := readKept(folder)
	if err != nil {
		return err
	}
	for _, file := range verdicts {
		if err := list.add(ctx, c, s, set, folder, file); err != nil {
			return err
		}
	}
	if err := list.write(folder); err != nil {
		return err
	}
	var all []*measuredPages
	index := in
	index.Measured = map[string]string{}
	for _, one := range in.Scenarios {
		pages, err := writeScenario(folder, in, one, list.of(one.Scenario))
		if err != nil {
			return err
		}
		all = append(all, pages)
		maps.Copy(index.Measured, pages.links(""))
	}
	index.Reports = list.links(runsFolder + "/")
	first := trends.Index(index, pageOf)
	err = atomicfile.Write(filepath.Join(folder, dataFile), func(w io.Writer) error { return saved.Render(w, first, document.Options{}) })
	if err != nil {
		return exit.Infrastructure(atomicfile.Error("write", dataFile, err))
	}
	if err := writePage(filepath.Join(folder, indexFile), first); err != nil {
		return err
	}
	for _, pages := range all {
		if err := pages.prune(); err != nil {
			return err
		}
	}
	return nil
}

// writeScenario writes a scenario's page, after those of its nights and judged builds.
func writeScenario(folder string, in trends.Input, s trend.Scenario, list kept) (*measuredPages, error) {
	in.Scenarios, in.Reports = []trend.Scenario{s}, list.links("../../"+runsFolder+"/")
	up := func(text, page string) []document.Fact {
		return []document.Fact{{Label: "Site", Text: text, Link: page}}
	}
	in.Up = up("every night of the scenario", "../../"+pageOf(s))
	pages, err := writeMeasured(folder, in, s)
	if err != nil {
		return nil, err
	}
	in.Up = up("all scenarios", "../"+indexFile)
	in.Reports, in.Measured = list.links("../"+runsFolder+"/"), pages.links("../")
	return pages, writePage(filepath.Join(folder, filepath.FromSlash(pageOf(s))), trends.Of(in))
}

func writePage(file string, d document.Document) error {
	err := atomicfile.Write(file, func(w io.Writer) error { return html.Render(w, d, document.Options{}) })
	if err != nil {
		return exit.Infrastructure(atomicfile.Error("write the page", file, err))
	}
	return nil
}

// pageOf returns the address of a scenario's page from the index: always the same for a scenario,
// whatever it is called.
func pageOf(s trend.Scenario) string {
	return path.Join(scenarios, fileName(s.Scenario, s.Package+"\x00"+s.Scenario))
}

// fileName returns the name of a page: what can be read of the title, and a part of the identity's
// digest.
func fileName(title, identity string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, title)
	sum := sha256.Sum256([]byte(identity))
	const most = 40
	return strings.TrimLeft(plain[:min(len(plain), most)]+"-"+hex.EncodeToString(sum[:4])+".html", "-")
}

// maxList limits the list of reports in bytes.
const maxList = 16 << 20

// readKept reads the list of a site's reports; a site that is new has none.
func readKept(folder string) (kept, error) {
	name := filepath.Join(folder, runsFolder, listFile)
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return kept{Format: keptFormat}, nil
	}
	if err != nil {
		return kept{}, exit.Infrastructure(atomicfile.Error("read", name, err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxList+1))
	var out kept
	if err == nil && len(data) > maxList {
		err = fmt.Errorf("it has more than %d bytes", maxList)
	}
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err == nil && out.Format != keptFormat {
		err = fmt.Errorf("its format is %q, want %q", out.Format, keptFormat)
	}
	for i := 0; err == nil && i < len(out.Reports); i++ {
		if r := out.Reports[i]; r.File != filepath.Base(r.File) || !strings.HasSuffix(r.File, ".html") {
			err = fmt.Errorf("report %d is the file %q, want the name of a page", i, r.File)
		}
	}
	if err != nil {
		return kept{}, exit.Usage(fmt.Errorf("%s: %w", terminal.Plain(name), err), "remove it to begin a new list; the pages stay")
	}
	return out, nil
}

func (k kept) write(folder string) error {
	if len(k.Reports) == 0 {
		return nil
	}
	name := filepath.Join(folder, runsFolder, listFile)
	err := atomicfile.Write(name, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(k)
	})
	if err != nil {
		return exit.Infrastructure(atomicfile.Error("write", name, err))
	}
	return nil
}

// add writes the page of a saved verdict if that is a regression. It is rendered anew, with the runs
// as the history has them: a page from elsewhere could contain anything.
func (k *kept) add(ctx context.Context, c terminal.Console, s runstore.Store, set settings.Settings, folder, file string) error {
	src, err := inputfiles.Open(c, file)
	if err != nil {
		return exit.Usage(err, "")
	}
	defer src.Close()
	found, err := saved.Read(src)
	if err != nil {
		return exit.Usage(fmt.Errorf("%s: %w", terminal.Plain(file), err), "--json FILE of check, run and baseline refresh saves what --report adds")
	}
	d, ids, worse := answerOf(ctx, s, set, found)
	if !worse {
		return nil
	}
	page := keptPage{Title: d.Title + ": " + d.Headline(), Added: c.Now().UTC(), Runs: ids, Scenarios: scenariosOf(found)}
	page.File = fileName("run", strings.Join(ids, "\x00"))
	if err := writePage(filepath.Join(folder, runsFolder, page.File), d); err != nil {
		return err
	}
	k.Reports = slices.DeleteFunc(k.Reports, func(o keptPage) bool { return o.File == page.File })
	k.Reports = slices.Insert(k.Reports, 0, page)
	return k.trim(folder)
}

// removed is what stays of an old report, since pages of nights lead to it.
var removed = fmt.Sprintf(`<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>Removed</title>
<p>This report was removed: the site keeps the newest %d.</p></html>
`, mostReports)

// trim takes the oldest reports beyond mostReports off the list.
func (k *kept) trim(folder string) error {
	for _, old := range k.Reports[min(len(k.Reports), mostReports):] {
		err := atomicfile.Write(filepath.Join(folder, runsFolder, old.File), func(w io.Writer) error {
			_, err := io.WriteString(w, removed)
			return err
		})
		if err != nil {
			return exit.Infrastructure(atomicfile.Error("replace the old page", old.File, err))
		}
	}
	k.Reports = k.Reports[:min(len(k.Reports), mostReports)]
	return nil
}

// answerOf returns a saved answer with its runs, and whether it is a regression.
func answerOf(ctx context.Context, s runstore.Store, set settings.Settings, found saved.Report) (d document.Document, ids []string, worse bool) {
	switch {
	case found.Verdict != nil:
		in := layout.OfVerdict(*found.Verdict)
		for _, r := range in.Verdict.Runs {
			ids = append(ids, r.ID)
			if e, err := s.Get(ctx, r.ID); err == nil { // else its frames are not drawn
				in.Runs = append(in.Runs, e.Run)
			}
		}
		in.Notes, in.Catalogue, in.Meta = judging.NotesOn(in.Verdict), catalogueOf(set, in.Runs), judging.MetaOf(in.Runs)
		in.Meta.Version = version.Tool()
		return layout.Verdict(in), ids, in.Verdict.Verdict == gate.Regression
	case found.Refresh != nil:
		for _, refused := range found.Refresh.Refused {
			ids = append(ids, refused.ID)
		}
		in := judging.CompletedRefresh(layout.RefreshInput{Refresh: *found.Refresh}, set.Catalogue)
		return layout.Refresh(in), append(ids, found.Refresh.Accepted...), found.Refresh.Outcome() == gate.Regression
	}
	return d, nil, false // a comparison of two builds is no part of a history
}

// links returns the reports, with the folder that their pages are in.
func (k kept) links(at string) (out []trends.Report) {
	for _, r := range k.Reports {
		out = append(out, trends.Report{Title: r.Added.Format("2 Jan 2006") + ": " + r.Title, Page: at + r.File, Runs: r.Runs})
	}
	return out
}

// of returns the reports on a scenario, and those that may be.
func (k kept) of(scenario string) (out kept) {
	for _, r := range k.Reports {
		if len(r.Scenarios) == 0 || slices.Contains(r.Scenarios, scenario) {
			out.Reports = append(out.Reports, r)
		}
	}
	return out
}

// scenariosOf returns the scenarios of a saved verdict.
func scenariosOf(found saved.Report) (out []string) {
	if found.Verdict == nil {
		return nil
	}
	for _, r := range found.Verdict.Runs {
		if !slices.Contains(out, r.Scenario) {
			out = append(out, r.Scenario)
		}
	}
	return out
}

// catalogueOf returns the catalogue with the metrics that runs declare.
func catalogueOf(set settings.Settings, runs []run.Run) *metric.Catalogue {
	catalogue, _ := gate.Catalogue(set.Catalogue, runs...)
	return catalogue
}
