package document

// Problem is something that needs attention, reported once for all runs that show it. Its texts are
// plain and fit on one line.
type Problem struct {
	Scenario string // as in the verdict
	Rule     string // the ID of its rule
	Worse    bool   // a regression; otherwise an unconfirmed deviation
	// Explains marks the reason of another problem, which is none by itself.
	Explains bool
	Title    string // "open-message after E2: frames rendered"
	Text     string // what, where, how much, how sure
	// Causes are its main explanations, each a sentence: lines of an annotation.
	Causes []string
	// Fingerprint identifies the problem across runs: the same app, scenario, event and metric have
	// the same one.
	Fingerprint string
}

// Rule is what problems break: a metric that should not get worse.
type Rule struct{ ID, Title, Text string }

// Place is a line of a file of the repository.
type Place struct {
	Path string // from the repository's root, with slashes
	Line int    // from 1; 0 where only the file is known
}

// Places are where each scenario is defined; the entry "" is for scenarios without one.
type Places map[string]Place

// Of returns the place of a scenario; the zero Place where unknown.
func (p Places) Of(scenario string) Place {
	if at, ok := p[scenario]; ok {
		return at
	}
	return p[""]
}

// OrConfig returns the place of a scenario; the usual configuration where it is unknown, for formats
// of which a finding without a place is rejected.
func (p Places) OrConfig(scenario string) Place {
	if at := p.Of(scenario); at.Path != "" {
		return at
	}
	return Place{Path: "apkgate.yml"}
}

// Options describe the place that a format writes for. Each format uses some of them.
type Options struct {
	Color   bool // a terminal's colours; nothing is shown by colour alone
	Width   int  // columns of a terminal; 0 is 100, and less than 40 counts as 40
	Verbose bool // everything, including tables, on a terminal
	Limit   int  // bytes of a comment; 0 is GitHub's limit
	// Picture is the address at which the document's first picture is published, for a comment to
	// show it; "" for none.
	Picture string
	// Places returns the places of scenarios, for formats that need them; nil: unknown.
	Places func() Places
}
