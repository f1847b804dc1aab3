package hierarchy

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apkgate/apkgate/trace"
)

// readXML reads uiautomator's output: nested elements called node with their bounds on the screen.
// The file has one window, or several, whose root nodes are siblings.
func (b *builder) readXML(r io.Reader) error {
	source := &failing{r: r}
	d := xml.NewDecoder(source)
	var path []int // the indices of the open nodes
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

// mostOpen limits the nesting of elements: a deeper file is no hierarchy.
const mostOpen = 5 * MaxDepth

// endXML adds the warning about what is assumed, or that the file has no view.
func (b *builder) endXML(line int) error {
	if len(b.tree.Windows) == 0 {
		b.warnings.Addf(line, "no view is in the file")
		return nil
	}
	b.warnings.Addf(0, "uiautomator does not report which views draw themselves: all are assumed to except layouts, lists and other containers")
	return nil
}

// node adds a node below the open ones. It returns its index, -1 for one that is left out.
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

// bounds parses "[0,63][1080,1794]".
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

// holders ends the names of classes of containers, which usually draw nothing themselves.
var holders = []string{"Layout", "ViewGroup", "ScrollView", "RecyclerView", "ListView", "GridView", "ViewPager", "ViewPager2", "ViewAnimator", "ViewFlipper", "ViewSwitcher", "Space", "ViewStub", "Toolbar"}

// holds reports whether a class is a container.
func holds(class string) bool {
	class = class[strings.LastIndexAny(class, ".$")+1:]
	for _, h := range holders {
		if strings.HasSuffix(class, h) {
			return true
		}
	}
	return false
}

// failing records why reading ended, so that a broken file is distinguished from a broken reader.
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
