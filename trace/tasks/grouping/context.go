package grouping

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/anr/signature"
)

// Weights of functions in the distance of two contexts. What schedules a task is the innermost
// function of the app. Which of its callers it was called through matters less with each step
// outwards, and which functions of the platform are around depends on the version of Android, on
// the tool that hooks methods, and on chance (Figure 10 of the paper).
const (
	// outwards is the weight of a function of the app in that of the next one inwards, of which the
	// innermost weighs 1.
	outwards = 1.0 / 3
	// platformWeight is of all functions of the platform together, in a context that has others.
	platformWeight = 0.25
)

// maxContexts limits the different contexts that are compared with each other. Tasks of others are
// grouped by the function that scheduled them.
const maxContexts = 4_000

// hooks begin the functions of tools that hook methods: Xposed and its successors.
var hooks = []string{"de.robv.android.xposed.", "org.lsposed.", "io.github.lsposed.", "LSPHooker_."}

// stack is a context without what differs between two occurrences of one.
type stack struct {
	task    string  // the name of the tasks that it scheduled
	symbols []int32 // its functions, the innermost first
	weights []float64
	total   float64 // of the weights
	sorted  []int32 // places in symbols, by symbol
	// scheduler is the innermost function outside the platform, or the innermost one.
	scheduler string
	raw       []string // as recorded, the first of them
}

// contexts numbers contexts: two are equal that consist of the same functions.
type contexts struct {
	own    string // begins its functions, "" where the package is unknown
	seed   maphash.Seed
	known  map[uint64]int32 // stacks by the hash of all lines: 64 bits of a secret seed don't collide
	frames map[string]int32 // the symbols of lines, -1 of one that is left out
	ids    []function       // of symbols
	byName map[string]int32 // the symbols
	equal  map[string]int32 // stacks by their symbols
	stacks []stack
}

type function struct {
	name string
	own  bool // not of the platform
	app  bool // of the app's package
}

func newContexts(app string) *contexts {
	return &contexts{
		own: ownPrefix(app), seed: maphash.MakeSeed(), known: map[uint64]int32{}, frames: map[string]int32{}, byName: map[string]int32{}, equal: map[string]int32{},
	}
}

// ownPrefix returns how the app's functions begin: with the first three parts of its package, since
// a build type or flavour may be at its end.
func ownPrefix(app string) string {
	parts := strings.Split(app, ".")
	if len(parts) < 2 {
		return ""
	}
	return strings.Join(parts[:min(len(parts), 3)], ".") + "."
}

// number returns the number of the stack of a context and the name of the task that it scheduled; -1
// for one that has no function.
func (c *contexts) number(task string, raw []string) int32 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	h.WriteString(task)
	h.WriteByte(0)
	for _, line := range raw {
		h.WriteString(line)
		h.WriteByte(0)
	}
	sum := h.Sum64()
	if n, ok := c.known[sum]; ok {
		return n
	}
	n := c.add(task, raw)
	c.known[sum] = n
	return n
}

func (c *contexts) add(task string, raw []string) int32 {
	var symbols []int32
	var key strings.Builder
	key.WriteString(task)
	for _, line := range raw {
		if s := c.symbol(line); s >= 0 {
			symbols = append(symbols, s)
			key.WriteByte(0)
			key.WriteString(c.ids[s].name)
		}
	}
	if len(symbols) == 0 {
		return -1
	}
	if n, ok := c.equal[key.String()]; ok {
		return n
	}
	n := int32(len(c.stacks))
	c.equal[key.String()] = n
	c.stacks = append(c.stacks, c.stack(task, symbols, raw))
	return n
}

// symbol returns the number of a line's function, -1 where the line is left out.
func (c *contexts) symbol(line string) int32 {
	if s, ok := c.frames[line]; ok {
		return s
	}
	name := functionOf(line)
	s := int32(-1)
	if name != "" && !slices.ContainsFunc(hooks, func(h string) bool { return strings.HasPrefix(name, h) }) {
		var ok bool
		if s, ok = c.byName[name]; !ok {
			s = int32(len(c.ids))
			c.byName[name] = s
			c.ids = append(c.ids, function{name: name, own: signature.Own(line), app: c.own != "" && strings.HasPrefix(name, c.own)})
		}
	}
	c.frames[line] = s
	return s
}

// functionOf returns the class and method of "at com.example.Store.read(Store.java:41)". Numbers of
// lambdas and anonymous classes stay: within a build they tell one from another.
func functionOf(line string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "at "), "(")
	return trace.Label(strings.TrimSpace(name))
}

// stack weighs the functions of a context. Where there are functions of the app's package, those
// of libraries count as the platform's.
func (c *contexts) stack(task string, symbols []int32, raw []string) stack {
	s := stack{task: task, symbols: symbols, raw: raw, weights: make([]float64, len(symbols)), sorted: make([]int32, len(symbols))}
	own := func(f int32) bool { return c.ids[f].own }
	if slices.ContainsFunc(symbols, func(f int32) bool { return c.ids[f].app }) {
		own = func(f int32) bool { return c.ids[f].app }
	}
	platform := 0
	for _, f := range symbols {
		if !own(f) {
			platform++
		}
	}
	weight := 1.0
	for i, f := range symbols {
		s.weights[i], s.sorted[i] = platformWeight/float64(platform), int32(i)
		if own(f) {
			if s.scheduler == "" {
				s.scheduler = c.ids[f].name
			}
			s.weights[i] = weight
			weight *= outwards
		}
		s.total += s.weights[i]
	}
	if s.scheduler == "" {
		s.scheduler = c.ids[symbols[0]].name
	}
	slices.SortFunc(s.sorted, func(a, b int32) int { return int(symbols[a]) - int(symbols[b]) })
	return s
}
