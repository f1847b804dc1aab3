package layout

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apkgate/apkgate/report/document"
)

// TestPagesInABrowser opens the page of every outcome in frames as wide as a phone, a tablet and a
// screen, on a server that counts requests. No page is wider than its frame or loads anything; every
// link within it leads somewhere; and its answers to the first questions are on the first screen.
func TestPagesInABrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	pages := map[string]string{}
	for name, d := range outcomes() {
		pages[name] = pageOf(t, d)
	}
	pages["hostile"], pages["hostile-builds"] = htmlOf(t, hostile()), pageOf(t, Comparison(ComparisonInput{Verdict: abVerdict(3)}))
	lab := newBrowserLab(t, pages)
	found := lab.measure(t, browser)
	if want := len(pages) * 4; len(found) != want {
		t.Fatalf("%d frames were measured, want %d", len(found), want)
	}
	for _, f := range found {
		if f.Wide != f.Width || f.Broken > 0 || f.Dead != "" {
			t.Errorf("%s at %d px: it is %d px wide, has %d broken words in tables, and dead links %q", f.Page, f.Width, f.Wide, f.Broken, f.Dead)
		}
		if f.First > 800 && !strings.HasPrefix(f.Page, "hostile") && f.Width > 320 {
			t.Errorf("%s at %d px: the first screen ends at %d px, want 800 at most", f.Page, f.Width, f.First)
		}
	}
	for _, path := range lab.asked() {
		if name, ok := strings.CutPrefix(path, "/page/"); path != "/favicon.ico" && path != "/frames" && (!ok || pages[name] == "") {
			t.Errorf("a page asked for %s", path)
		}
	}
}

func pageOf(t testing.TB, d document.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := asHTML(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// frame is what the browser finds in a page at a width.
type frame struct {
	Page                       string
	Width, Wide, First, Broken int
	Dead                       string
}

// frames is a page that opens each report at four widths, the third being the narrowest with a table
// layout. It notes where the facts and their first screen end, unfolds everything, and reports the
// width, the links that lead nowhere, and how many one-word statuses take more than one line in a
// table.
const frames = `<!DOCTYPE html><body><script>
const widths = [320, 390, 701, 1280], found = [];
let open = widths.length * pages.length;
pages.forEach(page => widths.forEach(width => {
	const f = document.createElement('iframe');
	f.style = 'border:0;height:900px;width:' + width + 'px';
	f.onload = () => {
		const d = f.contentDocument;
		const first = Math.round(d.querySelector('header > dl.facts').getBoundingClientRect().bottom);
		d.querySelectorAll('details').forEach(x => x.open = true);
		found.push({Page: page, Width: width, Wide: d.documentElement.scrollWidth, First: first,
			Broken: [...d.querySelectorAll('td.status > span')].filter(s =>
				width > 700 && s.textContent.trim().split(/\s/).length === 2 && s.getBoundingClientRect().height > 30).length,
			Dead: [...d.querySelectorAll('a[href^="#"]')].filter(a => !d.getElementById(a.getAttribute('href').slice(1))).map(a => a.textContent).join(', ')});
		if (--open === 0) document.body.dataset.found = JSON.stringify(found);
	};
	f.src = '/page/' + page;
	document.body.append(f);
}));
</script>`

type browserLab struct {
	*httptest.Server
	mu    sync.Mutex
	paths []string
}

func newBrowserLab(t *testing.T, pages map[string]string) *browserLab {
	lab := &browserLab{}
	names, err := json.Marshal(slices.Sorted(maps.Keys(pages)))
	if err != nil {
		t.Fatal(err)
	}
	lab.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lab.mu.Lock()
		lab.paths = append(lab.paths, r.URL.Path)
		lab.mu.Unlock()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if name, ok := strings.CutPrefix(r.URL.Path, "/page/"); ok {
			io.WriteString(w, pages[name])
			return
		}
		io.WriteString(w, strings.Replace(frames, "<script>", fmt.Sprintf("<script>const pages = %s;", names), 1))
	}))
	t.Cleanup(lab.Close)
	return lab
}

func (l *browserLab) asked() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.paths
}

var (
	measured = regexp.MustCompile(`data-found="([^"]+)"`)
	console  = regexp.MustCompile(`(?m)^.*CONSOLE.*$`)
)

// measure returns what the browser finds.
func (l *browserLab) measure(t *testing.T, browser string) (found []frame) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-logging=stderr",
		"--user-data-dir="+t.TempDir(), "--window-size=1400,1000", "--hide-scrollbars", "--dump-dom", l.URL+"/frames")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Skipf("chromium does not run here: %v", err)
	}
	for _, line := range console.FindAllString(stderr.String(), -1) {
		t.Errorf("the console says: %s", line)
	}
	m := measured.FindStringSubmatch(stdout.String())
	if m == nil {
		t.Fatalf("the browser measured nothing: %.500s", stdout.String())
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(m[1])), &found); err != nil {
		t.Fatal(err)
	}
	return found
}
