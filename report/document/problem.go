package document

// Problem is something that somebody should look at, told once for all the runs
// that show it. Its texts are plain and fit on one line.
type Problem struct {
	Scenario string // as the verdict has it
	Rule     string // the ID of the rule that it breaks
	Worse    bool   // a regression; otherwise a deviation that is not confirmed
	// Explains says that it is the reason of another problem, and none by itself.
	Explains bool
	Title    string // "open-message after E2: frames rendered"
	Text     string // what, where, how much, how sure
	// Causes are what explains it most, each a sentence: lines of an annotation.
	Causes []string
	// Fingerprint names the problem across runs: the same app, scenario, event
	// and metric have the same one.
	Fingerprint string
}

// Rule is what problems break: a metric that is to stay as it is.
type Rule struct{ ID, Title, Text string }

// Place is a line of a file of the repository.
type Place struct {
	Path string // from the repository's root, with slashes
	Line int    // from 1; 0 where only the file is known
}

// Places are where each scenario is written down; the entry "" is for those that
// have none.
type Places map[string]Place

// Of is the place of a scenario; the zero Place where nothing is known.
func (p Places) Of(scenario string) Place {
	if at, ok := p[scenario]; ok {
		return at
	}
	return p[""]
}

// Options are what a format has to know of the place that it writes for. Each
// format reads those that it has a use for.
type Options struct {
	Color   bool // a terminal's colours; nothing is told by colour alone
	Width   int  // columns of a terminal; 0 is 100, and less than 40 is taken as 40
	Verbose bool // everything, also what stands in tables, on a terminal
	Limit   int  // bytes of a comment; 0 is what GitHub takes
	// Places are asked for where problems are put at the lines of their scenarios; nil:
	// nothing is known.
	Places func() Places
}
