package gfxinfo

import (
	"slices"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/trace"
)

// cutf marks the dump as cut and adds the warning.
func (p *parser) cutf(format string, args ...any) {
	p.dump.Cut = true
	p.warnings.Addf(p.line, format, args...)
}

// checkEnd warns where the text, or the service's section of a bug report, ends too early. Each
// process ends with its count of ViewRootImpl.
func (p *parser) checkEnd(unended bool) {
	switch {
	case p.dump.Cut:
	case p.mode == rows:
		p.cutf("the text ends within a PROFILEDATA block")
	case unended && p.section != otherSection && p.dump.Recognized:
		p.cutf("the text ends without the end of a line: it may have been cut")
	case p.inProcess && !p.closed && (p.headed || p.hierarchy):
		p.cutf("the text ends before the process's last lines: it may have been cut")
	case p.hasPkg && p.lacksHistogram():
		p.cutf("the text ends within the summary of a package: it may have been cut")
	case p.framed:
		p.warnings.Addf(p.line, "%s", trace.UnclosedWarning)
	}
}

// lacksHistogram reports whether the current package has no histogram although those before it
// have.
func (p *parser) lacksHistogram() bool {
	n := len(p.dump.Packages)
	return n > 0 && len(p.dump.Packages[n-1].Stats.Histogram) > 0 && (!p.hasBlock || len(p.block.Histogram) == 0)
}

// check warns of blocks that contradict themselves and of a file without any.
func (p *parser) check() {
	d := &p.dump
	for _, proc := range d.Processes {
		p.checkStats(proc.Stats)
		for _, w := range proc.Windows {
			p.checkStats(w.Stats)
			p.checkRows(w)
		}
	}
	for _, pkg := range d.Packages {
		p.checkStats(&pkg.Stats)
	}
	if !d.Recognized {
		p.warnings.Addf(0, "the file has no line of gfxinfo or graphicsstats")
	}
}

func (p *parser) checkStats(s *Stats) {
	if s == nil {
		return
	}
	if !s.hasJanky {
		p.warnings.Addf(s.Line, "the summary does not state its janky frames")
	} else if s.Janky > s.Total {
		p.warnings.Addf(s.Line, "the summary states %d janky frames of %d", s.Janky, s.Total)
	}
	if n := frames(s.Histogram); len(s.Histogram) > 0 && n != s.Total {
		p.warnings.Addf(s.Line, "the summary states %d frames, its histogram holds %d", s.Total, n)
	}
}

func (p *parser) checkRows(w Window) {
	cut := 0
	for _, f := range w.Table {
		if slices.Max(f.Stages[:]) == 50*time.Millisecond {
			cut++
		}
	}
	if cut > 0 {
		p.warnings.Addf(w.Line, "%d of %d rows %s a stage of exactly 50 ms, where Android cuts it: %s took longer", cut, len(w.Table),
			prose.Plural(cut, "holds", "hold"), prose.Plural(cut, "this frame", "these frames"))
	}
	unusable, line := 0, 0
	for _, f := range w.Frames {
		if f.Flags&FlagSkipped == 0 && !f.Usable() {
			if unusable++; line == 0 {
				line = f.Line
			}
		}
	}
	if unusable > 0 {
		p.warnings.Addf(line, "%d of %d rows of window %s %s no usable FrameCompleted (first here): not counted", unusable, len(w.Frames), trace.Quote(w.Name),
			prose.Plural(unusable, "has", "have"))
	}
}
