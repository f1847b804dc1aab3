package hierarchy

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apkgate/apkgate/trace"
)

// readXML reads what uiautomator writes: elements called node, each in its parent's, with
// the bounds on the screen. It stands for one window, or for several, whose first nodes
// stand side by side.
func (b *builder) readXML(r io.Reader) error {
	source := &failing{r: r}
	d := xml.NewDecoder(source)
	var path []int // the places of the nodes that are open
	open, skipped := 0, 0
	for {
		token, err := d.Token()
		line, _ := d.InputPos()
		switch {
		case source.err != nil:
			return source.err
		case errors.Is(err, io.EOF):
			return b.endXML(0)
		case err != nil:
			b.warnings.Addf(line, "the XML breaks off: %s", trace.Quote(err.Error()))
			return b.endXML(line)
		case open > mostOpen:
			b.warnings.Addf(line, "the XML is nested deeper than %d: what follows is not read", mostOpen)
			return b.endXML(line)
		}
		switch e := token.(type) {
		case xml.StartElement:
			open++
			if e.Name.Local != "node" || skipped > 0 {
				continue
			}
			if at := b.node(e.Attr, path); at >= 0 {
				path = append(path, at)
			} else {
				skipped = open
			}
		case xml.EndElement:
			switch {
			case skipped > 0 && open <= skipped:
				skipped = 0
			case skipped == 0 && e.Name.Local == "node" && len(path) > 0:
				path = path[:len(path)-1]
			}
			open--
		}
	}
}

// mostOpen is how many elements may be open at a time: more are no hierarchy.
const mostOpen = 5 * MaxDepth

// endXML says what is believed, or that nothing was there.
func (b *builder) endXML(line int) error {
	if len(b.tree.Windows) == 0 {
		b.warnings.Addf(line, "no view is in the file")
		return nil
	}
	b.warnings.Addf(0, "uiautomator does not tell which views draw themselves: all are believed to but layouts, lists and what holds others")
	return nil
}

// node adds a node below those that are open; its place, -1 of one that is left out.
func (b *builder) node(attributes []xml.Attr, path []int) int {
	v := View{Depth: len(path), Parent: -1, Visible: true}
	pkg, text, described := "", "", false
	for _, a := range attributes {
		switch a.Name.Local {
		case "class":
			v.Class = a.Value
		case "resource-id":
			v.ID = name(a.Value)
		case "package":
			pkg = a.Value
		case "text":
			text = a.Value
		case "visible-to-user":
			v.Visible = a.Value != "false"
		case "bounds":
			v.Bounds, described = bounds(a.Value)
		}
	}
	if len(path) == 0 {
		b.open(Window{Package: trace.Name(pkg)})
	} else {
		v.Parent = path[len(path)-1]
	}
	if !described {
		b.strange++
		if w := b.tree.Windows[len(b.tree.Windows)-1]; v.Parent >= 0 {
			v.Bounds = w.Views[v.Parent].Bounds
		}
		return b.add(v)
	}
	v.Draws = text != "" || !holds(v.Class)
	return b.add(v)
}

// bounds reads "[0,63][1080,1794]".
func bounds(s string) (Rect, bool) {
	var r Rect
	if len(s) > 60 {
		return r, false
	}
	_, err := fmt.Sscanf(s, "[%d,%d][%d,%d]", &r.Left, &r.Top, &r.Right, &r.Bottom)
	far := func(v int) bool { return v < -farthest || v > farthest }
	if err != nil || far(r.Left) || far(r.Top) || far(r.Right) || far(r.Bottom) {
		return Rect{}, false
	}
	return r, true
}

// holders end the names of classes that hold others, and as a rule draw nothing themselves.
var holders = []string{"Layout", "ViewGroup", "ScrollView", "RecyclerView", "ListView", "GridView", "ViewPager", "ViewPager2", "ViewAnimator", "ViewFlipper", "ViewSwitcher", "Space", "ViewStub", "Toolbar"}

// holds reports whether a class holds others.
func holds(class string) bool {
	class = class[strings.LastIndexAny(class, ".$")+1:]
	for _, h := range holders {
		if strings.HasSuffix(class, h) {
			return true
		}
	}
	return false
}

// failing remembers why reading ended, so that a broken file and a broken reader can be
// told apart.
type failing struct {
	r   io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}
