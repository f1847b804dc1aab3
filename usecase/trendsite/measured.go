package trendsite

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/gate/trend"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/trends"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
)

// measuredFolder has a folder for each scenario, with a page for each night and each build that was
// judged and not accepted.
const measuredFolder = "measured"

const (
	// newest is how many of the newest nights and judged builds get a page each time, and mostSteps
	// how many nights of a change or a decision.
	newest    = 30
	mostSteps = 100
	// mostMeasured is how many pages of a scenario stay, next to those that are written now.
	mostMeasured = 300
)

// measuredPages are the pages of a scenario's nights and judged builds.
type measuredPages struct {
	folder  string            // of the site
	at      string            // its own folder in the site, with slashes
	files   map[string]string // by the first run of each
	there   map[string]bool   // what the folder has
	written map[string]bool
}

// writeMeasured writes the pages of the newest nights and builds, and of nights at a change or with
// a decision. What was written on other days stays, and is linked.
func writeMeasured(folder string, in trends.Input, s trend.Scenario) (*measuredPages, error) {
	p := &measuredPages{
		folder: folder, at: path.Join(measuredFolder, strings.TrimSuffix(path.Base(pageOf(s)), ".html")),
		files: map[string]string{}, there: map[string]bool{}, written: map[string]bool{},
	}
	entries, err := os.ReadDir(p.path(""))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, exit.Infrastructure(atomicfile.Error("read the folder", p.at, err))
	}
	for _, e := range entries {
		p.there[e.Name()] = true
	}
	wanted := map[int]bool{}
	for _, i := range slices.Concat(lastOf(len(s.Nights)), trends.Telling(s, mostSteps)) {
		wanted[i] = true
	}
	for i, n := range s.Nights {
		if err := p.add(n.Started, n.Runs, wanted[i], func() document.Document { return trends.Night(in, s, i) }); err != nil {
			return nil, err
		}
	}
	for i, j := range s.Judged {
		if err := p.add(j.Started, j.Runs, i >= len(s.Judged)-newest, func() document.Document { return trends.Judged(in, s, i) }); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// lastOf returns the places of the newest of n.
func lastOf(n int) (out []int) {
	for i := max(0, n-newest); i < n; i++ {
		out = append(out, i)
	}
	return out
}

// add writes the page of some runs if it is wanted; what is there is linked in any case.
func (p *measuredPages) add(started time.Time, runs []string, wanted bool, lay func() document.Document) error {
	file := fileName(started.UTC().Format(time.DateOnly), runs[0])
	if wanted {
		if err := writePage(p.path(file), lay()); err != nil {
			return err
		}
		p.written[file] = true
	}
	if wanted || p.there[file] {
		p.files[runs[0]] = file
	}
	return nil
}

func (p *measuredPages) path(file string) string {
	return filepath.Join(p.folder, filepath.FromSlash(p.at), file)
}

// links returns the addresses of the pages by the first run of each, from a page that is so deep in
// the site. Those that prune removes are left out.
func (p *measuredPages) links(up string) map[string]string {
	out, gone := map[string]string{}, p.surplus()
	for id, file := range p.files {
		if !slices.Contains(gone, file) {
			out[id] = up + path.Join(p.at, file)
		}
	}
	return out
}

// surplus returns the oldest pages beyond mostMeasured: names begin with the day.
func (p *measuredPages) surplus() (out []string) {
	for file := range p.there {
		if !p.written[file] && isMeasured(file) {
			out = append(out, file)
		}
	}
	slices.Sort(out)
	return out[:max(0, len(out)-mostMeasured)]
}

// isMeasured reports whether a file has the name of such a page.
func isMeasured(file string) bool {
	if len(file) < len(time.DateOnly) || !strings.HasSuffix(file, ".html") {
		return false
	}
	_, err := time.Parse(time.DateOnly, file[:len(time.DateOnly)])
	return err == nil
}

// prune removes the pages that are linked no more.
func (p *measuredPages) prune() error {
	for _, file := range p.surplus() {
		if err := os.Remove(p.path(file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return exit.Infrastructure(atomicfile.Error("remove the old page", path.Join(p.at, file), err))
		}
	}
	return nil
}
