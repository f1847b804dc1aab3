package simapp

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apkgate/apkgate/internal/prose"
)

// Format is the first line of every simulated app.
const Format = "apkgate-simulated-app/1"

// Limits of a file.
const (
	MaxBytes     = 256 << 10
	MaxScenarios = 100
	MaxEvents    = 1_000 // in one scenario
	MaxRules     = 1_000 // of slow, jank, causes, fault, network and test together
	MaxDuration  = time.Hour
	MaxFrames    = 1_000_000 // of one animation
)

// Is reports whether data begins like a simulated app.
func Is(data []byte) bool { return strings.HasPrefix(string(data), Format) }

// Parse parses a simulated app. An error contains the line's number.
func Parse(data []byte) (*App, error) {
	switch {
	case len(data) > MaxBytes:
		return nil, fmt.Errorf("the file is larger than %d KiB", MaxBytes>>10)
	case !utf8.Valid(data):
		return nil, errors.New("the file is not UTF-8")
	}
	p := parser{app: &App{
		Version: "1.0", VersionCode: 1, Activity: ".MainActivity",
		Cost: 7 * time.Millisecond, Startup: 400 * time.Millisecond, Touch: 24, MemoryKB: 60_000,
		Noise:    Noise{Session: 0.03, Repetition: 0.02, Frame: 0.12, Tail: 0.003, TailFactor: 3, Phone: 1},
		Networks: map[string]Network{},
		Runner:   "androidx.test.runner.AndroidJUnitRunner",
		Text:     slices.Clone(data),
	}}
	for i, line := range strings.Split(string(data), "\n") {
		if err := p.line(i, line); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	p.app.Plain = plain(string(data))
	p.app.sampledCalls()
	return p.app, p.check()
}

type parser struct {
	app   *App
	rules int
}

func (p *parser) line(i int, line string) error {
	text, _, _ := strings.Cut(line, "#")
	if strings.HasPrefix(strings.TrimSpace(line), "test ") || strings.HasPrefix(strings.TrimSpace(line), "benchmark ") {
		text = line // a test's method follows a #
	}
	words := strings.Fields(text)
	if i == 0 {
		if strings.TrimSpace(text) != Format {
			return fmt.Errorf("want %q", Format)
		}
		return nil
	}
	if len(words) == 0 {
		return nil
	}
	if c := words[0][0]; c >= '0' && c <= '9' {
		return p.event(words)
	}
	read, ok := statements[words[0]]
	if about, power := powerStatements[words[0]]; power {
		return about(p, words[1:])
	}
	if !ok {
		return fmt.Errorf("%q is not one of %s, or an event's time",
			words[0], strings.Join(statementNames(), ", "))
	}
	return read(p, words[1:])
}

// statements are the first words of lines.
var statements = map[string]func(p *parser, words []string) error{
	"package":    func(p *parser, w []string) error { return one(w, &p.app.Package, packageName) },
	"benchmark":  (*parser).benchmark,
	"calls":      (*parser).calls,
	"build":      func(p *parser, w []string) error { return one(w, &p.app.Build, word) },
	"activity":   func(p *parser, w []string) error { return one(w, &p.app.Activity, className) },
	"permission": func(p *parser, w []string) error { return p.permission(w) },
	"tests":      func(p *parser, w []string) error { return one(w, &p.app.Tests, packageName) },
	"split":      func(p *parser, w []string) error { return one(w, &p.app.Split, word) },
	"incomplete": (*parser).incomplete,
	"surface":    (*parser).surface,
	"runner":     func(p *parser, w []string) error { return one(w, &p.app.Runner, className) },
	"cost":       func(p *parser, w []string) error { return one(w, &p.app.Cost, shortTime) },
	"think":      func(p *parser, w []string) error { return one(w, &p.app.Think, shortTime) },
	"startup":    func(p *parser, w []string) error { return one(w, &p.app.Startup, shortTime) },
	"drawn":      func(p *parser, w []string) error { return one(w, &p.app.Drawn, shortTime) },
	"touch":      func(p *parser, w []string) error { return one(w, &p.app.Touch, frames) },
	"memory":     func(p *parser, w []string) error { return one(w, &p.app.MemoryKB, kilobytes) },
	"version":    (*parser).version,
	"events":     (*parser).events,
	"noise":      (*parser).noise,
	"network":    (*parser).network,
	"lag":        (*parser).lag,
	"launch":     (*parser).launch,
	"slow":       (*parser).slow,
	"jank":       (*parser).jank,
	"fault":      (*parser).fault,
	"test":       (*parser).test,
	"scenario":   (*parser).scenario,
	"start":      (*parser).start,
	"blocks":     (*parser).blocks,
	"work":       (*parser).work,
	"gc":         func(p *parser, w []string) error { return p.cause(Cause{Kind: GC}, w) },
	"gpu":        func(p *parser, w []string) error { return p.cause(Cause{Kind: GPU}, w) },
	"little":     func(p *parser, w []string) error { return p.cause(Cause{Kind: Little}, w) },
	"slow-clock": func(p *parser, w []string) error { return p.cause(Cause{Kind: SlowClock}, w) },
}

func statementNames() []string {
	names := slices.Collect(maps.Keys(statements))
	return slices.Sorted(slices.Values(slices.AppendSeq(names, maps.Keys(powerStatements))))
}

func one[T any](words []string, to *T, read func(string) (T, error)) error {
	if len(words) != 1 {
		return fmt.Errorf("want one value, have %d", len(words))
	}
	v, err := read(words[0])
	if err == nil {
		*to = v
	}
	return err
}

// eachPair parses "key value key value".
func eachPair(words []string, read func(key, value string) error) error {
	for ; len(words) > 0; words = words[2:] {
		if len(words) == 1 {
			return fmt.Errorf("%q has no value", words[0])
		}
		if err := read(words[0], words[1]); err != nil {
			return fmt.Errorf("%s: %w", words[0], err)
		}
	}
	return nil
}

var (
	packagePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$`)
	classPattern   = regexp.MustCompile(`^\.?[A-Za-z_$][A-Za-z0-9_.$]*$`)
	wordPattern    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.+:/-]*$`)
	// methodPattern matches C++ and Java names, mangled or not.
	methodPattern  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.$:~<>]*$`)
	versionPattern = regexp.MustCompile(`^[0-9]{1,4}(\.[0-9]{1,4}){0,3}$`)
)

const maxName = 200

func match(re *regexp.Regexp, what, s string) (string, error) {
	if len(s) > maxName || !re.MatchString(s) {
		return "", fmt.Errorf("%q is not %s", prose.Short(s), what)
	}
	return s, nil
}

func packageName(s string) (string, error) { return match(packagePattern, "a package name", s) }
func className(s string) (string, error)   { return match(classPattern, "a class name", s) }
func word(s string) (string, error)        { return name("a word", s) }
func name(what, s string) (string, error) {
	return match(wordPattern, what+" (letters, digits and _ . + : / -)", s)
}

func shortTime(s string) (time.Duration, error) { return duration(s, time.Minute) }

func duration(s string, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > most {
		return 0, fmt.Errorf("%q is not a duration such as 7ms or 2.5s, at most %v", prose.Short(s), most)
	}
	return d, nil
}

func number(s string, least, most int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q is not a whole number from %d to %d", prose.Short(s), least, most)
	}
	return n, nil
}

func frames(s string) (int, error)    { return number(s, 0, MaxFrames) }
func kilobytes(s string) (int, error) { return number(s, 0, 1<<30) }

// share parses 3%, or a fraction such as 0.03.
func share(s string) (float64, error) {
	digits, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(digits, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		return 0, fmt.Errorf("%q is not a share from 0%% to 100%%", prose.Short(s))
	}
	return v, nil
}

// factor parses x18.
func factor(s string) (float64, error) {
	digits, ok := strings.CutPrefix(s, "x")
	v, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || !(v > 0 && v <= 1000) {
		return 0, fmt.Errorf("%q is not a factor such as x18, at most x1000", prose.Short(s))
	}
	return v, nil
}

func names(s string) ([]string, error) {
	list := strings.Split(s, ",")
	for _, n := range list {
		if _, err := name("an event's name", n); err != nil {
			return nil, err
		}
	}
	return list, nil
}

var conditionPattern = regexp.MustCompile(`^(sdk|api|network)(>=|<=|=|<|>)(.+)$`)

func condition(s string) (Condition, error) {
	if s == "always" {
		return Condition{}, nil
	}
	m := conditionPattern.FindStringSubmatch(s)
	if m == nil {
		return Condition{}, fmt.Errorf("%q is not a condition such as sdk>=5.0, api<24, network=3g or always", prose.Short(s))
	}
	c := Condition{Key: m[1], Op: m[2], Value: m[3]}
	var err error
	switch c.Key {
	case "sdk":
		_, err = match(versionPattern, "a version such as 5.0", c.Value)
	case "api":
		_, err = number(c.Value, 1, 10_000)
	case "network":
		if c.Op != "=" {
			return Condition{}, errors.New("a network can only be compared with =")
		}
		_, err = word(c.Value)
	}
	return c, err
}
