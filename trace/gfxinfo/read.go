package gfxinfo

import (
	"bytes"
	"io"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/trace"
)

// Limits of one file, far beyond any device's.
const (
	maxProcesses = 20_000
	maxWindows   = 100_000
	maxFrames    = 4_000_000
)

// Read reads dumps of gfxinfo or graphicsstats, or a bug report with them. It returns an error only
// for failed or oversized input; what can't be understood is a warning of the dump.
func Read(r io.Reader) (Dump, error) {
	p := parser{section: anySection}
	lines := trace.NewLines(r)
	for lines.Next() {
		p.line = lines.Number()
		if lines.Cut() {
			p.warnings.Addf(p.line, "the line is longer than %d MiB: its rest is not read", trace.MaxLine>>20)
		}
		p.read(bytes.TrimSpace(lines.Text()))
	}
	if lines.Err() == nil && p.line > 0 {
		p.checkEnd(lines.Unended() && len(bytes.TrimSpace(lines.Text())) > 0)
	}
	p.endBlock()
	p.check()
	p.dump.Warnings = p.warnings.List()
	return p.dump, lines.Err()
}

type section int

const (
	anySection   section = iota // not (yet) a bug report: all lines are parsed
	graphicInfo                 // DUMP OF SERVICE gfxinfo, graphicsstats
	otherSection                // of another service
)

type mode int

const (
	text  mode = iota
	rows       // within PROFILEDATA, after or before its header
	table      // below a header of stages
)

type parser struct {
	dump     Dump
	warnings trace.Warnings
	line     int
	frames   int

	section   section
	mode      mode
	layout    layout
	hasLayout bool
	stages    int
	row       Frame // the row being read, here to avoid an allocation

	framed    bool // one of several services, so a line should end it
	headed    bool // the dump's first line was seen, so all of it should follow
	inProcess bool // dump.Processes has a current one
	closed    bool // its last lines were seen
	inWindow  bool // it has a current window
	profile   bool // "Profile data in ms:" was seen: a window follows
	hierarchy bool // "View hierarchy:" was seen
	listed    int  // the window whose frame count the hierarchy's next line states

	pkg      Package // a "Package:" line before its summary
	hasPkg   bool
	block    Stats // the summary block being read
	hasBlock bool
}

func (p *parser) read(line []byte) {
	if len(line) == 0 {
		return
	}
	if line[0] == '*' && trace.CutShort(line, "gfxinfo", "graphicsstats") {
		p.cutf("the device aborted its own dump here (%s): it is incomplete, and totals may be too low", trace.Quote(line))
		p.endBlock()
		p.mode, p.inProcess, p.inWindow, p.hasPkg = text, false, false, false
		return
	}
	if p.mode == rows && p.readRow(line) || p.mode == table && p.readStages(line) {
		return
	}
	if p.readSection(line) || p.section == otherSection {
		return
	}
	_ = p.readSummary(line) || p.readPlace(line) || p.readComplaint(line)
}

// readSection tracks the services of a bug report.
func (p *parser) readSection(line []byte) bool {
	if line[0] == '-' && trace.ClosesService(line) {
		p.framed = false
		return false
	}
	if name, ok := bytes.CutPrefix(line, []byte("DUMP OF SERVICE ")); ok {
		p.framed = false // Android before 7 does not mark the end of a service
		p.checkEnd(false)
		p.endBlock()
		p.headed, p.inProcess, p.inWindow, p.hasPkg = false, false, false, false
		p.section = otherSection
		words := bytes.Fields(bytes.TrimSuffix(name, []byte(":")))
		if n := len(words); n > 0 && (string(words[n-1]) == "gfxinfo" || string(words[n-1]) == "graphicsstats") {
			p.section, p.framed = graphicInfo, true
			p.dump.Recognized = true
		}
		return true
	}
	if bytes.HasPrefix(line, []byte("Applications Graphics Acceleration Info:")) {
		p.endBlock()
		if p.section == otherSection {
			p.section = anySection
		}
		p.dump.Recognized = true
		p.headed, p.inProcess, p.inWindow, p.hasPkg = true, false, false, false
		return true
	}
	return false
}

// readSummary parses a line of a summary block, and begins one if needed.
func (p *parser) readSummary(line []byte) bool {
	if !isSummary(line) {
		return false
	}
	total := bytes.HasPrefix(line, []byte("Total frames rendered:"))
	opens := bytes.HasPrefix(line, []byte("Stats since:")) || total && (!p.hasBlock || p.block.hasTotal)
	if opens {
		p.endBlock()
		p.block, p.hasBlock = Stats{Line: p.line}, true
	}
	if !p.hasBlock {
		return false // a similar line outside any block
	}
	if err := p.block.parse(line); err != nil {
		p.warnings.Addf(p.line, "%v", err)
	}
	return true
}

// endBlock assigns the summary block to its package, window or process.
func (p *parser) endBlock() {
	if !p.hasBlock {
		return
	}
	p.hasBlock = false
	block := p.block
	if !block.hasTotal {
		p.warnings.Addf(block.Line, "the summary states no total of frames: it is not used")
		return
	}
	p.dump.Recognized = true
	switch {
	case p.hasPkg:
		p.pkg.Stats = block
		p.hasPkg = false
		if len(p.dump.Packages) < maxProcesses {
			p.dump.Packages = append(p.dump.Packages, p.pkg)
		}
	case p.profile && p.inWindow && p.window().Stats == nil:
		p.window().Stats = &block
	case p.inProcess && p.process().Stats == nil:
		p.process().Stats = &block
	case p.addProcess(Process{Line: block.Line}):
		p.process().Stats = &block
	}
}

// readPlace tracks processes and windows.
func (p *parser) readPlace(line []byte) bool {
	switch {
	case bytes.Contains(line, []byte("Graphics info for pid ")):
		p.endBlock()
		p.hasPkg = false
		p.addProcess(processOf(line, p.line))
	case bytes.HasPrefix(line, []byte("Uptime:")):
		p.readUptime(line)
	case bytes.HasPrefix(line, []byte("Package: ")) && !p.inProcess:
		p.endBlock()
		p.pkg = Package{Name: string(bytes.TrimSpace(line[9:])), Line: p.line}
		p.hasPkg = true
	case bytes.HasPrefix(line, []byte("Version: ")) && p.hasPkg && !p.hasBlock:
		p.pkg.Version = string(bytes.TrimSpace(line[9:]))
	case bytes.HasPrefix(line, []byte("Profile data in ms:")):
		p.endBlock()
		p.profile, p.inWindow = true, false
	case bytes.HasPrefix(line, []byte("View hierarchy:")):
		p.endBlock()
		p.profile, p.hierarchy, p.listed = false, true, -1
	case bytes.HasPrefix(line, []byte("Window: ")):
		p.nameWindow(string(bytes.TrimSpace(line[8:])))
	case string(line) == "---PROFILEDATA---":
		p.beginRows()
	case bytes.HasPrefix(line, []byte("Flags,")):
		p.beginRows()
		p.readRow(line)
	case tableColumns(line) > 0:
		if p.ensureWindow() {
			p.mode, p.stages = table, tableColumns(line)
		}
	case bytes.Contains(line, []byte("ViewRootImpl@")):
		p.readViewRoot(line)
	case bytes.HasPrefix(line, []byte("Total ViewRootImpl")):
		p.closed = true
	case p.hierarchy && bytes.HasSuffix(line, []byte(" frames rendered")):
		p.readRendered(line)
	default:
		return false
	}
	return true
}

func (p *parser) readUptime(line []byte) {
	words := bytes.Fields(line)
	if len(words) < 2 {
		return
	}
	if ms, ok := parseInt(words[1]); ok && ms > 0 && ms < int64(10*365*24*time.Hour/time.Millisecond) {
		p.dump.Uptime = time.Duration(ms) * time.Millisecond
	}
}

// filtered is a note, not a failure.
const filtered = "Note: Data has been filtered"

// readComplaint passes on dumpsys's error messages.
func (p *parser) readComplaint(line []byte) bool {
	for _, said := range []string{
		"No process found for", "Failure while dumping the app", "Got a RemoteException while dumping",
		"Can't find service", filtered, "Permission Denial",
	} {
		if bytes.HasPrefix(line, []byte(said)) {
			p.warnings.Addf(p.line, "the device says %s", trace.Quote(line))
			p.dump.Recognized = true
			p.dump.Failed = p.dump.Failed || said != filtered
			return true
		}
	}
	return false
}

func (p *parser) process() *Process { return &p.dump.Processes[len(p.dump.Processes)-1] }

func (p *parser) window() *Window {
	w := p.process().Windows
	return &w[len(w)-1]
}

func (p *parser) addProcess(proc Process) bool {
	p.mode, p.profile, p.hierarchy, p.inWindow, p.closed = text, false, false, false, false
	p.dump.Recognized = true
	if len(p.dump.Processes) >= maxProcesses {
		p.warnings.Addf(p.line, "more than %d processes: the rest is not read", maxProcesses)
		p.inProcess = false
		return false
	}
	p.dump.Processes = append(p.dump.Processes, proc)
	p.inProcess = true
	return true
}

// processOf parses "** Graphics info for pid 2243 [com.example] **".
func processOf(line []byte, number int) Process {
	proc := Process{Line: number}
	_, rest, _ := bytes.Cut(line, []byte("Graphics info for pid "))
	pid, name, _ := bytes.Cut(rest, []byte(" "))
	proc.PID, _ = strconv.Atoi(string(pid))
	if open, end := bytes.IndexByte(name, '['), bytes.LastIndexByte(name, ']'); open >= 0 && end > open {
		proc.Name = string(name[open+1 : end])
	}
	return proc
}
