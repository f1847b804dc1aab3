package gfxinfo

import (
	"bytes"
	"strings"

	"github.com/apkgate/apkgate/trace"
)

// ensureProcess begins an unnamed process if the text begins within one.
func (p *parser) ensureProcess() bool {
	return p.inProcess || p.addProcess(Process{Line: p.line})
}

func (p *parser) addWindow(w Window) bool {
	if !p.ensureProcess() {
		return false
	}
	if len(p.process().Windows) >= maxWindows {
		p.warnings.Addf(p.line, "more than %d windows in one process: the rest is not read", maxWindows)
		return false
	}
	w.Line, w.Rendered = p.line, -1
	p.process().Windows = append(p.process().Windows, w)
	p.profile, p.inWindow = true, true
	return true
}

func (p *parser) ensureWindow() bool {
	return p.inProcess && p.inWindow || p.addWindow(Window{})
}

// readViewRoot parses "NAME/android.view.ViewRootImpl@HASH (visibility=0)": the head of a window
// under "Profile data in ms:", or of its line in the hierarchy.
func (p *parser) readViewRoot(line []byte) {
	name, rest, _ := bytes.Cut(line, []byte("ViewRootImpl@"))
	id, _, _ := bytes.Cut(rest, []byte(" "))
	w := Window{Name: strings.TrimSuffix(string(name), "/android.view."), ID: string(id)}
	if p.hierarchy {
		p.listed = p.findWindow(w)
		return
	}
	p.endBlock()
	if p.profile {
		p.addWindow(w)
	}
}

// findWindow returns the index of the process's window with that name and hash, -1 if there is
// none.
func (p *parser) findWindow(w Window) int {
	if !p.inProcess {
		return -1
	}
	for i, have := range p.process().Windows {
		if have.ID == w.ID && have.Name == w.Name {
			return i
		}
	}
	return -1
}

// nameWindow parses "Window: NAME", which Android 7 and later print below the head of a window,
// before its summary.
func (p *parser) nameWindow(name string) {
	p.endBlock()
	if p.inProcess && p.inWindow {
		w := p.window()
		if w.Stats == nil && len(w.Frames) == 0 && (w.Name == "" || w.Name == name) {
			w.Name = name
			return
		}
	}
	p.addWindow(Window{Name: name})
}

// readRendered parses "106 views, 7.42 kB of display lists, 2071 frames rendered" (Android 4).
func (p *parser) readRendered(line []byte) {
	if p.listed < 0 {
		return
	}
	parts := bytes.Split(line, []byte(","))
	n, ok := parseInt(bytes.TrimSpace(bytes.TrimSuffix(parts[len(parts)-1], []byte("frames rendered"))))
	if ok && n >= 0 && n < 1<<31 {
		p.process().Windows[p.listed].Rendered = int(n)
	}
	p.listed = -1
}

func (p *parser) beginRows() {
	p.endBlock()
	p.hasLayout = false
	if p.ensureWindow() {
		p.mode = rows
	}
}

// readRow parses a line within PROFILEDATA and reports whether it belongs there.
func (p *parser) readRow(line []byte) bool {
	switch {
	case string(line) == "---PROFILEDATA---":
		p.mode = text
		return true
	case bytes.HasPrefix(line, []byte("Flags,")), bytes.Contains(line, []byte("IntendedVsync,")):
		l, err := parseLayout(line)
		if err != nil {
			p.warnings.Addf(p.line, "%v", err)
		}
		p.layout, p.hasLayout = l, err == nil
		return true
	case !isDigit(line[0]) && line[0] != '-' && isLandmark(line):
		p.warnings.Addf(p.line, "the PROFILEDATA block is not closed before this line")
		p.mode = text
		return false
	case !isDigit(line[0]) && line[0] != '-':
		p.unread("%s is not a row of frames", trace.Quote(line))
		return true
	case !p.hasLayout:
		p.unread("a row of framestats without a header that can be read")
		return true
	}
	if err := p.layout.parse(&p.row, line); err != nil {
		p.unread("%v: the row is not counted", err)
		return true
	}
	p.addFrame(p.row, false)
	return true
}

// isLandmark reports whether the line can only occur outside PROFILEDATA.
func isLandmark(line []byte) bool {
	for _, mark := range []string{
		"View hierarchy:", "Window: ", "Profile data in ms:", "Stats since:", "** Graphics info for pid ",
		"Applications Graphics Acceleration Info:", "DUMP OF SERVICE ", "Total ViewRootImpl",
	} {
		if bytes.HasPrefix(line, []byte(mark)) {
			return true
		}
	}
	return bytes.Contains(line, []byte("ViewRootImpl@"))
}

// readStages parses a line of the older table and reports whether it belongs there.
func (p *parser) readStages(line []byte) bool {
	if !isDigit(line[0]) {
		p.mode = text
		return false
	}
	f, err := parseTableRow(line, p.stages)
	if err != nil {
		p.unread("%v: the row is not counted", err)
		return true
	}
	p.addFrame(f, true)
	return true
}

func (p *parser) unread(format string, args ...any) {
	p.dump.UnreadRows++
	p.warnings.Addf(p.line, format, args...)
}

func (p *parser) addFrame(f Frame, untimed bool) {
	if p.frames++; p.frames > maxFrames {
		if p.frames == maxFrames+1 {
			p.warnings.Addf(p.line, "more than %d frames: the rest is not read", maxFrames)
		}
		return
	}
	f.Line = p.line
	w := p.window()
	if untimed {
		w.Table = append(w.Table, f)
	} else {
		w.Frames = append(w.Frames, f)
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
