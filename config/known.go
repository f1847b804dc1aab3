package config

import (
	"regexp"
	"time"
)

// Which threads' calls are compared with a known problem.
const (
	MainThread = "main" // the app's main thread
	AllThreads = "all"
)

// KnownProblem is a problem that is known by the calls that it makes, where runs have traces of
// every call.
type KnownProblem struct {
	// Its name, by which reports name it.
	Name string `yaml:"name" jsonschema:"required,minLength=1,maxLength=200"`
	// The methods that call each other in this order, directly or not, such as
	// com.example.Call.hangUp and java.lang.Thread.sleep. An asterisk is any text.
	Calls []string `yaml:"calls" jsonschema:"required,minItems=1,maxItems=20"`
	// How long the last of these methods takes at least in a repetition of an event, with all that
	// it calls.
	Over time.Duration `yaml:"over,omitempty" jsonschema:"default=0s"`
	// Whose calls are looked at: the main thread's, or those of all threads.
	Threads string `yaml:"threads,omitempty" jsonschema:"enum=main,enum=all,default=main"`
	// What is known of it, and what to do, in a sentence.
	Text string `yaml:"text,omitempty" jsonschema:"minLength=1,maxLength=1000"`
	// Where there is more: an address.
	Link string `yaml:"link,omitempty" jsonschema:"maxLength=1000"`
}

var (
	methodPattern = regexp.MustCompile(`^[^\s()]*[^\s()*][^\s()]*$`)
	linkPattern   = regexp.MustCompile(`^https?://[!#$%&*+,./0-9:;=?@A-Z\[\]^_a-z{|}~-]+$`)

	methodRule = rule{"a method such as com.example.Feed.bind, without its arguments (* is any text), up to 500 characters", func(s string) bool { return isLine(s, 1, 500) && methodPattern.MatchString(s) }}
	textRule   = rule{"1 to 1000 printable characters, no space at either end", func(s string) bool { return isLine(s, 1, 1000) }}
	linkRule   = rule{"an address that begins with https:// or http://, without parentheses, quotes and spaces, up to 1000 characters", func(s string) bool { return isLine(s, 1, 1000) && linkPattern.MatchString(s) }}
)

// mostMethods limits the methods of one problem.
const mostMethods = 20

func (d *decoder) knownProblem(c *Config) reader {
	lines := map[string]int{}
	return func(n *node, path string) {
		p := KnownProblem{Threads: MainThread}
		if !d.mapping(n, path,
			need("name", d.text(&p.Name, nameRule)),
			need("calls", d.list(1, d.word(&p.Calls, methodRule))),
			may("over", d.duration(&p.Over, 0, 24*time.Hour)),
			may("threads", oneOf(d, &p.Threads, MainThread, AllThreads)),
			may("text", d.text(&p.Text, textRule)),
			may("link", d.text(&p.Link, linkRule)),
		) {
			return
		}
		if len(p.Calls) > mostMethods {
			d.at(n.find("calls"), join(path, "calls"), "want at most %d methods, got %d", mostMethods, len(p.Calls))
		}
		d.once(lines, p.Name, n, "name", path, "problem named")
		c.KnownProblems = append(c.KnownProblems, p)
	}
}
