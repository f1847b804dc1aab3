package layout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/diagnose/hotspots"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/gate/sidebyside"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/figure"
	"github.com/apkgate/apkgate/report/markdown"
	"github.com/apkgate/apkgate/report/sarif"
	"github.com/apkgate/apkgate/report/saved"
	"github.com/apkgate/apkgate/report/wording"
	"github.com/apkgate/apkgate/run"
)

func textOfInput(t *testing.T, in Input, o document.Options) string {
	t.Helper()
	var b bytes.Buffer
	o.Width = 200 // no line of these tests breaks
	if err := asText(&b, Verdict(in), o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func markdownOfInput(t *testing.T, in Input) string {
	t.Helper()
	var b bytes.Buffer
	if err := asMarkdown(&b, Verdict(in), 0); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(b.String(), wording.NBSP, " ")
}

// inOrder returns an error for the first text that does not follow the ones before it.
func inOrder(s string, texts ...string) error {
	at := 0
	for _, text := range texts {
		i := strings.Index(s[at:], text)
		if i < 0 {
			return fmt.Errorf("%q is missing, or not where it should be, in\n%s", text, s)
		}
		at += i + len(text)
	}
	return nil
}

// What every renderer shows of the fixture, in this order.
var hungrierLines = []string{
	"15.6 J per repetition on average, 3.2 J more, which is 0.0053 % of the battery; modelled (reference-phone)",
	"com.example.mail.MessageView.decode +2.1 J (+350 %), 70 % of the change; called from Inbox.open.",
	"com.example.mail.Fresh.parse +0.60 J (not seen before), 20 % of the change; called from Inbox.open.",
	"By component: cpu +3.0 J",
}

func TestEnergyInEveryFormat(t *testing.T) {
	sheet := Comparison(twoBuilds())
	var text, md, html bytes.Buffer
	for _, err := range []error{asText(&text, sheet, document.Options{Width: 200, Verbose: true}), asMarkdown(&md, sheet, 0), asHTML(&html, sheet)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, got := range map[string]string{
		"text": textOfInput(t, hungrier(), document.Options{Verbose: true}), "Markdown": markdownOfInput(t, hungrier()), "HTML": htmlOf(t, hungrier()),
		"text of two builds": text.String(), "Markdown of two builds": md.String(), "HTML of two builds": html.String(),
	} {
		got = strings.ReplaceAll(strings.ReplaceAll(got, wording.NBSP, " "), "&#43;", "+")
		if err := inOrder(got, hungrierLines...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		// The collector rose too, but the two before it make up nine tenths.
		if strings.Contains(got, "MarkingPhase() +0.50 J (") {
			t.Errorf("%s: a method is named that isn't needed to explain the change", name)
		}
	}
}

// A row shows what is clear and what isn't; the first rows explain the change.
func TestMethodsAreRankedInATable(t *testing.T) {
	got := textOfInput(t, hungrier(), document.Options{Verbose: true})
	if err := inOrder(got, "Methods by energy", "900 samples of task-clock at 500 Hz", "MessageView.decode", "Fresh.parse", "MarkingPhase()", "Legacy.strip", "MessageList.bind", "Looper.loop"); err != nil {
		t.Fatal(err)
	}
	for _, row := range [][]string{
		// decode: 2.7 ± 0.3 less 0.6 ± 0.1.
		{"com.example.mail.MessageView.decode", "2.7 J", "+2.1 J", "+1.7…+2.5 J", "2.7 J", "0.0045 %", "worse"},
		{"com.example.mail.MessageList.bind", "2.2 J", "+0.20 J", "−0.40…+0.80 J", "2.2 J", "0.0037 %", "not clear"},
		{"android.os.Looper.loop", "0.40 J", "0 J", "−0.20…+0.20 J", "9.0 J", "0.00067 %", "not clear"},
		{"com.example.mail.Legacy.strip", "0 J", "−0.50 J", "gone"},
		{"cpu", "4.0 J", "7.0 J", "+3.0 J", "0.012 %"},
	} {
		found := false
		for line := range strings.Lines(got) {
			found = found || strings.Contains(line, row[0]+"  ") && inOrder(line, row...) == nil
		}
		if !found {
			t.Errorf("no row says %q in\n%s", row, got)
		}
	}
}

// A method that uses more joules is reported with its change of CPU time.
func TestMethodsShowCPUTime(t *testing.T) {
	base, head := baseJoules(), headJoules()
	for of, ms := range map[*run.Run]float64{&base: 200, &head: 240} {
		for i, m := range of.Energy.Methods.List {
			if m.Name == "com.example.mail.MessageView.decode" {
				of.Energy.Methods.List[i].Local.CPUMS = ms
			}
		}
	}
	const want = "com.example.mail.MessageView.decode +2.1 J (+350 %), 70 % of the change; called from Inbox.open; its CPU time +20 %."
	if got := textOfInput(t, judged(gate.ToRegression, explain(head, base)), document.Options{Width: 200, Verbose: true}); !strings.Contains(got, want) {
		t.Errorf("the report lacks %q:\n%s", want, got)
	}
}

// Shares are of the change of all methods together. Where the run as a whole changed by another
// amount, that is reported, since a reader divides one by the other.
func TestSharesOfEnergy(t *testing.T) {
	const line = "Shares are of the +3.0 J attributed to all methods together, since methods that run together share the device's power; the run as a whole took +2.0 J."
	head := headJoules()
	head.Iterations[0].Metrics["energy.total_j"] = 14.4 // 12.4 J before
	if got := textOfInput(t, judged(gate.ToRegression, explain(head, baseJoules())), document.Options{Width: 400, Verbose: true}); !strings.Contains(got, line) {
		t.Errorf("the report lacks %q:\n%s", line, got)
	}
	if got := textOfInput(t, hungrier(), document.Options{Width: 400, Verbose: true}); strings.Contains(got, "These parts of the change") {
		t.Errorf("the methods' change of +3.0 J is set apart from the whole one of +3.2 J:\n%s", got)
	}
}

func TestUnchangedEnergyIsOneLine(t *testing.T) {
	in := judged(gate.None, explain(headJoules(), baseJoules()))
	const line = "15.6 J per repetition, 0.026 % of the battery; modelled (reference-phone)"
	for name, got := range map[string]string{"text": textOfInput(t, in, document.Options{}), "Markdown": markdownOfInput(t, in)} {
		if strings.Count(got, " J") != 1 || !strings.Contains(got, line) {
			t.Errorf("%s says more of energy than %q:\n%s", name, line, got)
		}
	}
	page := strings.ReplaceAll(htmlOf(t, in), wording.NBSP, " ")
	if !strings.Contains(page, `<details class="energy"><summary>`+line) || strings.Contains(page, `<details class="energy" open`) {
		t.Error("the page's section on energy does not stand folded under its line")
	}
}

// Without energy the report does not mention it.
func TestReportsWithoutEnergy(t *testing.T) {
	page := htmlOf(t, regression())
	if strings.Contains(page, "s-energy") || strings.Contains(markdownOfInput(t, regression()), "Energy") {
		t.Error("a report on frames alone has a part on energy")
	}
	var b bytes.Buffer
	if err := asJSON(&b, Verdict(regression())); err != nil || strings.Contains(b.String(), `"energy"`) {
		t.Errorf("the JSON of a verdict without energy has the field (%v)", err)
	}
}

// The paper's case study: nothing in the methods, a wakelock with the screen off. It is reported
// even where no metric of the gate shows it.
func TestWakelockWithScreenOff(t *testing.T) {
	base, head := heldAwake()
	const lock = "Wakelock SyncService was held 9 min 58 s while the screen was off; before: none."
	for _, d := range []gate.Direction{gate.ToRegression, gate.None} {
		in := judged(d, explain(head, base))
		for name, got := range map[string]string{"text": textOfInput(t, in, document.Options{Verbose: true}), "Markdown": markdownOfInput(t, in), "HTML": strings.ReplaceAll(htmlOf(t, in), wording.NBSP, " ")} {
			if !strings.Contains(got, lock) {
				t.Errorf("%s, %s: %q is missing in\n%s", d, name, lock, got)
			}
		}
	}
	got := strings.ReplaceAll(textOfInput(t, judged(gate.ToRegression, explain(head, base)), document.Options{Verbose: true}), "&#43;", "+")
	if !strings.Contains(got, "The sampled methods do not explain it: theirs is a change of 0 J, the whole one is +112 J.") {
		t.Errorf("the text does not clear the methods:\n%s", got)
	}
}

func TestOverlappingIntervals(t *testing.T) {
	head := headJoules()
	for i := range head.Energy.Methods.List {
		m := &head.Energy.Methods.List[i]
		m.Local.LowJ, m.Local.HighJ = 0, 2*m.Local.EnergyJ+5
		m.NonLocal.LowJ, m.NonLocal.HighJ = 0, 2*m.NonLocal.EnergyJ
	}
	base := baseJoules()
	base.Energy.Methods.List = base.Energy.Methods.List[:5] // Legacy.strip is gone, and that is clear
	got := textOfInput(t, judged(gate.ToRegression, explain(head, base)), document.Options{Verbose: true})
	told, _, _ := strings.Cut(got, "Methods by energy")
	if !strings.Contains(told, "No method's change is clear enough to be named: the intervals overlap.") || strings.Contains(told, "decode") {
		t.Errorf("methods are named whose intervals overlap:\n%s", got)
	}
}

func TestChangeOfManyMethods(t *testing.T) {
	base, head := baseJoules(), headJoules()
	base.Energy.Methods.List = []run.Method{withCalls(ownCode(mailPackage+"MessageView.decode", 0, 0), 1)}
	head.Energy.Methods.List = []run.Method{withCalls(ownCode(mailPackage+"MessageView.decode", 0, 0), 3.7)}
	got := textOfInput(t, judged(gate.ToRegression, explain(head, base)), document.Options{Verbose: true})
	const want = "com.example.mail.MessageView.decode +2.7 J (+270 %) with all that it calls, spread over many methods; called from Inbox.open."
	if !strings.Contains(got, want) || strings.Contains(got, "overlap") {
		t.Errorf("%q is missing in\n%s", want, got)
	}
}

// A method whose own code was not sampled before isn't new where its calls were.
func TestCallingMethodIsNotNew(t *testing.T) {
	base, head := baseJoules(), headJoules()
	base.Energy.Methods.List = []run.Method{withCalls(ownCode(mailPackage+"MessageView.decode", 0, 0), 1)}
	head.Energy.Methods.List = []run.Method{withCalls(ownCode(mailPackage+"MessageView.decode", 2.7, 0.3), 1)}
	got := textOfInput(t, judged(gate.ToRegression, explain(head, base)), document.Options{Verbose: true})
	if !strings.Contains(got, "MessageView.decode +2.7 J, 90 % of the change") || strings.Contains(got, "new\n") {
		t.Errorf("decode, which was seen before, is not told as such:\n%s", got)
	}
}

// Methods that changed a little don't explain a total that changed a lot.
func TestMethodsThatExplainLittle(t *testing.T) {
	head := headJoules()
	head.Iterations[0].Metrics["energy.total_j"] = 100
	got := textOfInput(t, judged(gate.ToRegression, explain(head, baseJoules())), document.Options{Verbose: true})
	if err := inOrder(got, "By component: cpu +3.0 J", "The sampled methods do not explain it: theirs is a change of +3.0 J, the whole one is +87.6 J."); err != nil {
		t.Error(err)
	}
	if told, _, _ := strings.Cut(got, "Methods by energy"); strings.Contains(told, "decode") || strings.Contains(told, "Energy cause") {
		t.Errorf("a method is named that makes 2 of 88 J:\n%s", got)
	}
}

func TestEnergySourcesInWords(t *testing.T) {
	for source, want := range map[string]string{
		"rails":                 "measured (power rails)",
		"battery":               "measured (the battery's current × voltage)",
		"platform":              "estimated by the platform (batterystats)",
		"model reference-phone": "modelled (reference-phone)",
		"model my profile":      "modelled (my profile)",
		"wattmeter":             "source: wattmeter",
	} {
		c := explain(headJoules(), baseJoules())
		c.Source = source
		if got := textOfInput(t, judged(gate.None, c), document.Options{}); !strings.Contains(got, "; "+want+"\n") {
			t.Errorf("%s: %q is missing in\n%s", source, want, got)
		}
	}
}

func TestDebugBuildWarning(t *testing.T) {
	head := headJoules()
	head.App.Build = "debug"
	in := judged(gate.ToRegression, explain(head, baseJoules()))
	for name, got := range map[string]string{"text": textOfInput(t, in, document.Options{}), "Markdown": markdownOfInput(t, in), "HTML": htmlOf(t, in)} {
		if !strings.Contains(got, "This is a debug build: its energy") {
			t.Errorf("%s does not warn that debug builds mislead", name)
		}
	}
	if got := textOfInput(t, judged(gate.None, explain(head, baseJoules())), document.Options{}); !strings.Contains(got, "; a debug build") {
		t.Errorf("a pass does not say that the build is one for debugging:\n%s", got)
	}
}

// Of several runs the one that changed most is shown, with the number of similar runs.
func TestOneRunStandsForSeveral(t *testing.T) {
	var changes []hotspots.Change
	for i := range 3 {
		head := headJoules()
		head.ID = fmt.Sprintf("H%d", i+1)
		if i == 0 { // as before
			head.Energy.Methods, head.Iterations = baseJoules().Energy.Methods, baseJoules().Iterations
		}
		changes = append(changes, explain(head, baseJoules()))
	}
	got := markdownOfInput(t, judged(gate.ToRegression, changes...))
	if err := inOrder(got, "Google Emulator 2 (Android 14):", "called from Inbox.open; in 2 of 3 runs.", "Google Emulator 2 (Android 14): 15.6 J per repetition", "2 more runs have joules too"); err != nil {
		t.Error(err)
	}
	if n := strings.Count(got, "MessageView.decode +2.1 J"); n != 2 {
		t.Errorf("decode is told %d times, want as the cause and in the list", n)
	}
}

func TestComparisonNamesDevices(t *testing.T) {
	in := twoBuilds()
	other := headJoules()
	other.ID, other.Context["model"], other.Iterations[0].Metrics["energy.total_j"] = "H2", "Tablet", 14
	in.Energy = append(in.Energy, explain(other, baseJoules()))
	var b bytes.Buffer
	if err := asText(&b, Comparison(in), document.Options{Width: 200, Verbose: true}); err != nil {
		t.Fatal(err)
	}
	if err := inOrder(b.String(), "Google Emulator, Android 14: 15.6 J", "Where the energy goes: Google Emulator, Android 14", "in 2 of 2 runs."); err != nil {
		t.Error(err)
	}
}

func TestCommentNamesFewMethods(t *testing.T) {
	base, head := baseJoules(), headJoules()
	base.Energy.Methods.List, head.Energy.Methods.List = nil, nil
	for i := range 9 { // 0.33 J each: eight make more than four fifths of 3 J
		m := ownCode(fmt.Sprintf("com.example.mail.Part.%c", 'a'+i), 0.33, 0.05)
		head.Energy.Methods.List = append(head.Energy.Methods.List, m)
	}
	got := markdownOfInput(t, judged(gate.ToRegression, explain(head, base)))
	if !strings.Contains(got, "**Energy cause:** 8 methods, the first com.example.mail.Part.a +0.33 J") {
		t.Errorf("one of eight is called the cause:\n%s", got)
	}
	_, rest, _ := strings.Cut(got, "<summary>Where the energy goes")
	open, folded, _ := strings.Cut(rest, "<details>")
	if n := strings.Count(open, "com.example.mail.Part."); n != 5 || !strings.Contains(open, "And 3 more methods in the table.") {
		t.Errorf("%d methods are named, want 5 and 3 more in the table:\n%s", n, open)
	}
	if n := strings.Count(folded, "| com.example.mail.Part."); n != 9 {
		t.Errorf("%d methods are in the folded table, want 9", n)
	}
}

func TestEnergyOfAnyRecordFits(t *testing.T) {
	in := judged(gate.ToRegression, hugeEnergy())
	if md := markdownOfInput(t, in); len(md) > markdown.MaxComment {
		t.Errorf("the comment has %d bytes, want at most %d", len(md), markdown.MaxComment)
	}
	page := htmlOf(t, in)
	if len(page) > 1<<20 {
		t.Errorf("the page has %d bytes, want at most a mebibyte", len(page))
	}
	for _, want := range []string{"And 400 rows; the JSON report has everything.", "And 170 rows;", "And 70 rows;"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q of the methods, parts or wakelocks that it leaves out", want)
		}
	}
}

var flameRect = regexp.MustCompile(`<g><title>([^<]*)</title><rect class="flame ([a-z ]+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"`)

// flame is a box of the wide figure: its text, class, x, y and width.
type flame struct {
	text, class string
	x, y, w     float64
}

func flames(t *testing.T, in Input) []flame {
	t.Helper()
	_, rest, found := strings.Cut(strings.ReplaceAll(htmlOf(t, in), wording.NBSP, " "), `aria-labelledby="e0fw-t`)
	if !found {
		t.Fatal("the page has no picture of calls")
	}
	svg, _, _ := strings.Cut(rest, "</svg>")
	var out []flame
	for _, m := range flameRect.FindAllStringSubmatch(svg, -1) {
		f := flame{text: strings.ReplaceAll(m[1], "&#43;", "+"), class: m[2]}
		for i, v := range []*float64{&f.x, &f.y, &f.w} {
			*v, _ = strconv.ParseFloat(m[3+i], 64)
		}
		out = append(out, f)
	}
	return out
}

func TestFlame(t *testing.T) {
	got := flames(t, hungrier())
	texts := make([]string, len(got))
	for i, f := range got {
		texts[i] = f.class + ": " + f.text
	}
	want := []string{ // of 9 J; a change by 5 % of that, 0.45 J, or more is "much"
		"more much: android.os.Looper.loop: 7.5 J (83 %), before 5.0 J: +2.5 J",
		"more much: com.example.mail.Inbox.open: 4.7 J (52 %), before 2.2 J: +2.5 J, aot",
		"more much: com.example.mail.MessageView.decode: 2.7 J (30 %), before 0.60 J: +2.1 J, aot",
		"more much: java.util.zip.Inflater.inflate: 0.68 J (7.5 %), before 0.15 J: +0.53 J, aot",
		"more much: com.example.mail.Fresh.parse: 0.60 J (6.7 %), not among the calls before, aot",
		"more: com.example.mail.MessageList.bind: 2.2 J (24 %), before 2.0 J: +0.20 J, aot",
		"more much: art::gc::collector::ConcurrentCopying::MarkingPhase(): 1.5 J (17 %), before 1.0 J: +0.50 J, aot",
	}
	if !slices.Equal(texts, want) {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(texts, "\n"), strings.Join(want, "\n"))
	}
	loop, open, decode := got[0], got[1], got[2]
	// 912 px are 9 J; a pixel of each box is the gap to the next.
	for _, c := range []struct {
		f flame
		w float64
	}{{loop, 912 * 7.5 / 9}, {open, 912 * 4.7 / 9}, {decode, 912 * 2.7 / 9}} {
		if d := c.f.w + 1 - c.w; d > 0.2 || d < -0.2 {
			t.Errorf("%s is %.1f px wide, want %.1f less the gap", c.f.text, c.f.w, c.w)
		}
	}
	if !(loop.y < open.y && open.y < decode.y && open.x == loop.x && decode.x == open.x) {
		t.Errorf("calls don't stand below their callers: %+v", got[:3])
	}
	page := strings.ReplaceAll(htmlOf(t, hungrier()), wording.NBSP, " ")
	for _, want := range []string{"+ takes more", "− takes less", "about as before", "Not drawn: 4 outermost calls that make but one call and 1 call of the build before alone."} {
		if !strings.Contains(strings.ReplaceAll(page, "&#43;", "+"), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestFlameWithoutBase(t *testing.T) {
	got := flames(t, judged(gate.ToRegression, explain(headJoules())))
	if len(got) != 7 {
		t.Fatalf("%d boxes, want 7", len(got))
	}
	for _, f := range got {
		if f.class != "same" || strings.Contains(f.text, "before") {
			t.Errorf("a call of a head without a base is %q, %q", f.class, f.text)
		}
	}
	page := htmlOf(t, judged(gate.ToRegression, explain(headJoules())))
	if !strings.Contains(page, "No earlier run measured energy the same way, so there is nothing to compare with.") || strings.Contains(page, "takes less") {
		t.Error("the page speaks of a change that nobody can know")
	}
}

// Calls that claim more than their callers stay inside them.
func TestFlameKeepsCallsInsideCallers(t *testing.T) {
	head := headJoules()
	head.Energy.Methods.Calls = []run.Call{
		{Parent: -1, Name: "a", EnergyJ: 1}, {Parent: 0, Name: "b", EnergyJ: 50}, {Parent: 0, Name: "c", EnergyJ: 50},
		{Parent: -1, Name: "d", EnergyJ: 1},
	}
	got := flames(t, judged(gate.ToRegression, explain(head)))
	end := map[string]float64{}
	for _, f := range got {
		end[f.text[:1]] = f.x + f.w
	}
	if len(got) != 4 || end["b"] > end["a"] || end["c"] > end["a"] || end["a"] > 457 {
		t.Errorf("boxes leave the half of the picture that is their caller's: %v", end)
	}
}

func TestBarsHaveTheirIntervals(t *testing.T) {
	groups := explainedRuns(hungrier()).Groups()[0].Body.(*document.Groups)
	svg := groups.Groups[0].Figures[0].Picture.Draw("x", "wide", 1000)
	// Each of the seven methods has a bar and a whisker for each build.
	if n := strings.Count(svg, "whisker over"); n != 14 {
		t.Errorf("%d whiskers, want 14", n)
	}
	if n := strings.Count(svg, "energy worse"); n != 3 {
		t.Errorf("%d bars are called worse, want those of decode, parse and the collector", n)
	}
	if _, ok := figure.NewBars(nil, true, figure.Measure{}); ok {
		t.Error("a picture of nothing is drawn")
	}
}

func TestEnergySurvivesJSON(t *testing.T) {
	in := hungrier()
	var b bytes.Buffer
	if err := asJSON(&b, Verdict(in)); err != nil {
		t.Fatal(err)
	}
	back, err := read(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	back.Meta = in.Meta
	if htmlOf(t, back) != htmlOf(t, in) {
		t.Error("a saved verdict makes another page than the one that was saved")
	}
	var doc struct {
		Verdict string
		Energy  []struct {
			Run, Source string
			Total       struct {
				BaseJ float64 `json:"base_j"`
				HeadJ float64 `json:"head_j"`
			}
			Methods struct {
				List []struct {
					Name, From string
					Explains   bool
				}
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	e := doc.Energy[0]
	if doc.Verdict != "regression" || e.Run != "H1" || e.Source != "model reference-phone" || e.Total.HeadJ != 15.6 || e.Total.BaseJ != 12.4 {
		t.Errorf("the JSON says %+v", doc)
	}
	if m := e.Methods.List[0]; m.Name != "com.example.mail.MessageView.decode" || !m.Explains || m.From != "com.example.mail.Inbox.open" {
		t.Errorf("the first method is %+v, want decode", m)
	}
}

// With more runs than fit, the one that deviates is kept, wherever it is.
func TestJSONKeepsEnergyOfDeviatingRun(t *testing.T) {
	var changes []hotspots.Change
	for i := range 3 * saved.MaxEnergy {
		head := headJoules()
		head.ID = fmt.Sprintf("H%d", i)
		changes = append(changes, explain(head, baseJoules()))
	}
	in := judged(gate.None, changes...)
	last := &in.Verdict.Runs[len(changes)-1]
	last.Deviations = []gate.Comparison{compared("", "energy.total_j", 12.4, 0.4, 15.6, gate.ToRegression)}
	var b bytes.Buffer
	if err := asJSON(&b, Verdict(in)); err != nil {
		t.Fatal(err)
	}
	back, err := read(&b)
	if err != nil {
		t.Fatal(err)
	}
	if len(back.Energy) != saved.MaxEnergy || back.Energy[0].Run != last.ID {
		t.Errorf("%d runs are kept, %s first; want %d and %s", len(back.Energy), back.Energy[0].Run, saved.MaxEnergy, last.ID)
	}
}

func TestReadRejectsInvalidEnergy(t *testing.T) {
	for change, want := range map[string]string{
		`{"total":{"head_j":-1}}`:                                  "energy[0].total, app, update_ms or battery_j: has the amount -1",
		`{"methods":{"calls":[{"parent":7}]}}`:                     "energy[0].methods.calls[0].parent is 7",
		`{"traffic":{"head_bytes":-1}}`:                            "energy[0].traffic has the amount -1",
		`{"components":[{"head_j":1e300}]}`:                        "energy[0].components[0] has the amount 1e+300",
		`{"methods":{"list":[{"local":{"head":{"j":"plenty"}}}]}}`: "energy.methods.list.local.head.j is a JSON string",
	} {
		_, err := read(strings.NewReader(`{"format":"apkgate.verdict/1","verdict":"pass","energy":[` + change + `]}`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", change, err, want)
		}
	}
	many := strings.TrimSuffix(strings.Repeat("{},", saved.MaxEnergy+1), ",")
	if _, err := read(strings.NewReader(`{"format":"apkgate.verdict/1","verdict":"pass","energy":[` + many + `]}`)); err == nil || !strings.Contains(err.Error(), "at most 20") {
		t.Errorf("21 runs: %v", err)
	}
}

func TestComparisonJSONHasEnergy(t *testing.T) {
	in := twoBuilds()
	var b bytes.Buffer
	if err := asJSON(&b, Comparison(in)); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Format string
		Energy []hotspots.Change
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil || doc.Format != sidebyside.Format || len(doc.Energy) != 1 || len(doc.Energy[0].Explaining()) != 2 {
		t.Errorf("%v, %+v", err, doc)
	}
}

// Code scanning gets each explaining method once, at its scenario's location: it rejects a whole
// file for one result without a location.
func TestMethodsInSARIF(t *testing.T) {
	var b bytes.Buffer
	in := hungrier()
	if err := asSARIF(&b, Verdict(in), document.Places{"open-message": {Path: "app/OpenMessage.kt", Line: 3}}); err != nil {
		t.Fatal(err)
	}
	var log sarif.Log
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	results := log.Runs[0].Results
	if len(results) != 3 {
		t.Fatalf("%d results, want the energy and two methods", len(results))
	}
	if results[0].Level != "error" || len(results[0].Locations) != 1 {
		t.Errorf("the energy itself: %+v", results[0])
	}
	for i, want := range []string{"open-message: energy of MessageView.decode. com.example.mail.MessageView.decode +2.1 J (+350 %), 70 % of the change; called from Inbox.open; modelled (reference-phone)", "open-message: energy of Fresh.parse. "} {
		r := results[i+1]
		if got := strings.ReplaceAll(r.Message.Text, wording.NBSP, " "); !strings.HasPrefix(got, want) || r.Level != "warning" || r.RuleID != "energy.total_j" {
			t.Errorf("result %d: %+v, want %q as a warning", i+1, r, want)
		}
		if len(r.Locations) != 1 || r.Locations[0].PhysicalLocation.ArtifactLocation.URI != "app/OpenMessage.kt" || r.Locations[0].PhysicalLocation.Region.StartLine != 3 {
			t.Errorf("result %d is at %+v, want its scenario's place", i+1, r.Locations)
		}
	}
	b.Reset()
	if err := asSARIF(&b, Verdict(judged(gate.None, in.Energy...)), nil); err != nil || strings.Contains(b.String(), "decode") {
		t.Errorf("a pass names methods (%v): %s", err, b.String())
	}
}
