package figure

import (
	"fmt"
	"math"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// Rules is the paper's Figure 9: context items on the left, one circle per rule, as large as its
// support, and its labels.
type Rules struct {
	List  []Rule
	rules []ruleNode
	items []graphNode
	thens []graphNode
	total int // total number of rules
}

type graphNode struct {
	text  string
	class string
	y     float64
}

type ruleNode struct {
	rule  Rule
	items []int
	then  int
	y     float64
}

// MaxRules limits the rules that are drawn.
const MaxRules = 24

const (
	graphRow = 40.0
	graphTop = 6.0
	nodeTall = 26.0
)

// Rule is a context with its labels.
type Rule struct {
	If       []string // its conditions
	Then     string
	Tone     document.Tone
	Support  float64 // the share of runs that it covers
	Sentence string  // the complete rule, for those who can't see the figure
}

// NewRules returns the first MaxRules of the rules; total is how many there are.
func NewRules(rules []Rule, total int) Rules {
	f := Rules{List: rules[:min(len(rules), MaxRules)], total: total}
	items, thens := map[string]int{}, map[string]int{}
	for _, r := range f.List {
		node := ruleNode{rule: r}
		for _, item := range r.conditions() {
			node.items = append(node.items, place(&f.items, items, item, "item"))
		}
		node.then = place(&f.thens, thens, r.mark()+" "+r.Then, classOf(r.Tone))
		f.rules = append(f.rules, node)
	}
	f.layOut()
	return f
}

// conditions returns the rule's conditions, or a text for a rule without any.
func (r Rule) conditions() []string {
	if len(r.If) == 0 {
		return []string{"any context"}
	}
	return r.If
}

func place(nodes *[]graphNode, known map[string]int, text, class string) int {
	i, ok := known[text]
	if !ok {
		i = len(*nodes)
		known[text] = i
		*nodes = append(*nodes, graphNode{text: text, class: class})
	}
	return i
}

// mark returns the shape of a rule's tone, in addition to the colour of its class.
func (r Rule) mark() string {
	switch r.Tone {
	case document.Worse:
		return "▼"
	case document.Better:
		return "▲"
	}
	return "●"
}

// layOut gives each item a row, and puts each rule and label at the middle of its sources, a row
// apart from the one before.
func (f *Rules) layOut() {
	for i := range f.items {
		f.items[i].y = graphTop + (float64(i)+0.5)*graphRow
	}
	last := graphTop - graphRow
	incoming := make([][]float64, len(f.thens))
	for i := range f.rules {
		r := &f.rules[i]
		sum := 0.0
		for _, item := range r.items {
			sum += f.items[item].y
		}
		r.y = max(sum/float64(len(r.items)), last+graphRow)
		last = r.y
		incoming[r.then] = append(incoming[r.then], r.y)
	}
	last = graphTop - graphRow
	for i := range f.thens {
		sum := 0.0
		for _, y := range incoming[i] {
			sum += y
		}
		f.thens[i].y = max(sum/float64(len(incoming[i])), last+graphRow)
		last = f.thens[i].y
	}
}

func (f Rules) height() float64 {
	bottom := 0.0
	for _, r := range f.rules {
		bottom = max(bottom, r.y)
	}
	for _, nodes := range [][]graphNode{f.items, f.thens} {
		for _, n := range nodes {
			bottom = max(bottom, n.y)
		}
	}
	return bottom + graphRow/2
}

// Draw returns the figure as SVG.
func (f Rules) Draw(id, class string, width float64) string {
	itemWide, thenWide := columnOf(f.items, width*0.42), columnOf(f.thens, width*0.34)
	width = min(width, itemWide+thenWide+320)
	c := &canvas{width: width, height: f.height()}
	circleAt := itemWide + (width-itemWide-thenWide)*0.4
	most := 0.0
	for _, r := range f.rules {
		most = max(most, r.rule.Support)
	}
	for _, r := range f.rules {
		for _, item := range r.items {
			c.curve("edge", itemWide, f.items[item].y, circleAt, r.y)
		}
		c.curve("edge "+f.thens[r.then].class, circleAt, r.y, width-thenWide-7, f.thens[r.then].y)
		c.path("arrow "+f.thens[r.then].class, fmt.Sprintf("M%s %sl-7 -4v8z", px(width-thenWide), px(f.thens[r.then].y)))
	}
	for _, r := range f.rules {
		c.circle("node "+f.thens[r.then].class, circleAt, r.y, radius(r.rule.Support, most))
		c.text("small halo", circleAt, r.y-radius(r.rule.Support, most)-2, middleAt, wording.Percent(r.rule.Support))
	}
	for _, n := range f.items {
		n.draw(c, 1, itemWide-1)
	}
	for _, n := range f.thens {
		n.draw(c, width-thenWide, thenWide-1)
	}
	return c.svg(id, class, "Rules: in which contexts it happens", f.description())
}

// columnOf returns the width of a column of nodes: its longest text, within limits.
func columnOf(nodes []graphNode, most float64) float64 {
	wide := 60.0
	for _, n := range nodes {
		wide = max(wide, textWidth(n.text)+20)
	}
	return min(wide, most)
}

func (n graphNode) draw(c *canvas, x, wide float64) {
	c.rect("label "+n.class, x, n.y-nodeTall/2, wide, nodeTall, 6)
	c.text("small", x+8, n.y+4, startAt, fitText(n.text, wide-14))
}

// radius makes the area of a circle proportional to the support, within visible and available
// limits.
func radius(support, most float64) float64 {
	if !(support > 0) || !(most > 0) {
		return 4
	}
	return max(4, 10*math.Sqrt(min(support/most, 1)))
}

// description describes the figure in words.
func (f Rules) description() string {
	var parts []string
	for _, r := range f.rules {
		parts = append(parts, r.rule.Sentence)
	}
	if n := f.total - len(f.rules); n > 0 {
		parts = append(parts, fmt.Sprintf("And %s.", prose.Count(n, "more rule", "more rules")))
	}
	return strings.Join(parts, " ")
}
