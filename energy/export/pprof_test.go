package export_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"github.com/apkgate/apkgate/energy/export"
	"github.com/apkgate/apkgate/energy/methods"
)

var about = export.About{App: "com.example.mail", Source: "battery"}

func made(t testing.TB, traces []methods.Trace) *profile.Profile {
	t.Helper()
	p, err := export.Pprof(traces, about)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	return p
}

// written writes a profile to a file, and reads it again.
func written(t testing.TB, p *profile.Profile) (path string, again *profile.Profile) {
	t.Helper()
	var out bytes.Buffer
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "profile.pb.gz")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := profile.ParseData(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return path, again
}

// leaves returns a profile's samples by the innermost frame.
func leaves(p *profile.Profile) map[string][]int64 {
	out := map[string][]int64{}
	for _, s := range p.Sample {
		out[s.Location[0].Line[0].Function.Name] = s.Value
	}
	return out
}

func TestPprofIsOfOneMeanIteration(t *testing.T) {
	_, p := written(t, made(t, base))
	want := map[string][]int64{ // samples, ns, µJ
		"mail.Inbox.draw": {40, 20_000_000, 40_000},
		"Store::sync":     {40, 20_000_000, 80_000},
	}
	if diff := cmp.Diff(want, leaves(p)); diff != "" {
		t.Error(diff)
	}
	if p.DefaultSampleType != "energy" || p.Period != 1_000_000 || p.DurationNanos != int64(39*time.Millisecond) {
		t.Errorf("default %s, period %d, duration %d; want energy, 1 ms, 39 ms", p.DefaultSampleType, p.Period, p.DurationNanos)
	}
	for _, s := range p.Sample {
		kind := map[string]string{"mail.Inbox.draw": "jit", "Store::sync": "native"}[s.Location[0].Line[0].Function.Name]
		if diff := cmp.Diff(map[string][]string{"thread": {"main"}, "kind": {kind}}, s.Label); diff != "" {
			t.Error(diff)
		}
	}
	if comments := strings.Join(p.Comments, "\n"); !strings.Contains(comments, "the mean of 2") || !strings.Contains(comments, "energy from: battery") {
		t.Errorf("the comments are %q", comments)
	}
}

// A method run by two kinds of code is one method, so that base and head can be compared.
func TestPprofNamesAMethodOnce(t *testing.T) {
	other := iteration(5, 0)
	other.Frames = slices.Clone(other.Frames)
	other.Frames[1].Kind = "interpreted"
	p := made(t, []methods.Trace{iteration(5, 0), other})
	named := 0
	for _, f := range p.Function {
		if f.Name == "mail.Inbox.draw" {
			named++
		}
	}
	if named != 1 || len(p.Sample) != 2 {
		t.Errorf("%d functions and %d samples, want 1 function and a sample of each kind", named, len(p.Sample))
	}
}

// Samples with unknown power take the mean of the others: here 3 W.
func TestPprofWithoutSomePower(t *testing.T) {
	tr := iteration(10, 10)
	tr.Frames = append(slices.Clone(tr.Frames), methods.Frame{Name: "late", Kind: "native"})
	for i := range 10 {
		tr.Samples = append(tr.Samples, methods.Sample{Time: time.Duration(20+i) * time.Millisecond, Period: time.Millisecond, Chain: []int{3, 0}, Reading: -1})
	}
	if got := leaves(made(t, []methods.Trace{tr}))["late"]; !slices.Equal(got, []int64{10, 10_000_000, 30_000}) {
		t.Errorf("late is %v, want 10 samples, 10 ms and 30 mJ", got)
	}
}

func TestPprofWithoutAnyPower(t *testing.T) {
	tr := iteration(3, 0)
	for i := range tr.Samples {
		tr.Samples[i].Watts, tr.Samples[i].Reading = 0, -1
	}
	p := made(t, []methods.Trace{tr})
	if got := leaves(p)["mail.Inbox.draw"]; p.DefaultSampleType != "cpu" || got[2] != 0 {
		t.Errorf("shows %s first, with %v; want cpu, and no energy", p.DefaultSampleType, got)
	}
	if comments := strings.Join(p.Comments, "\n"); strings.Contains(comments, "energy from") {
		t.Errorf("the comments %q tell of energy that there is not", comments)
	}
}

// The profile's total is that of the record.
func TestPprofAddsUpToTheAttribution(t *testing.T) {
	r, err := methods.Attribute(base, methods.Options{})
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, v := range leaves(made(t, base)) {
		total += v[2]
	}
	if got := r.EnergyJ.Value * 1e6; got < float64(total)-1 || got > float64(total)+1 {
		t.Errorf("the profile is %d µJ, the attribution %g", total, got)
	}
}

func TestPprofRefuses(t *testing.T) {
	other := iteration(1, 1)
	other.Event = "cpu-clock"
	for want, traces := range map[string][]methods.Trace{
		"there is no trace":          nil,
		"of the event \"cpu-clock\"": {iteration(1, 1), other},
	} {
		if _, err := export.Pprof(traces, about); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	}
}

// tool returns the path of Go's pprof.
func tool(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "tool", "-n", "pprof").Output()
	path := strings.TrimSpace(string(out))
	if err != nil || path == "" {
		t.Skipf("go tool pprof is not here: %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("go tool pprof is not here: %v", err)
	}
	return path
}

// top runs pprof and returns each function's flat and cumulative cost as printed.
func top(t testing.TB, args ...string) (rows map[string][2]string, shown string) {
	t.Helper()
	cmd := exec.Command(tool(t), append([]string{"-top", "-nodefraction=0", "-edgefraction=0"}, args...)...)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("pprof %v: %v\n%s", args, err, out)
	}
	rows = map[string][2]string{}
	for _, m := range regexp.MustCompile(`(?m)^ *(\S+) +\S+% +\S+% +(\S+) +\S+%  (.+)$`).FindAllStringSubmatch(string(out), -1) {
		rows[m[3]] = [2]string{m[1], m[2]}
	}
	return rows, string(out)
}

func TestPprofTop(t *testing.T) {
	basePath, _ := written(t, made(t, base))
	headPath, _ := written(t, made(t, head))
	for _, c := range []struct {
		args []string
		want map[string][2]string
	}{
		{[]string{basePath}, map[string][2]string{
			"mail.Main.main": {"0", "120000microjoules"}, "mail.Inbox.draw": {"40000microjoules", "40000microjoules"}, "Store::sync": {"80000microjoules", "80000microjoules"}}},
		{[]string{"-sample_index=cpu", basePath}, map[string][2]string{
			"mail.Main.main": {"0", "40ms"}, "mail.Inbox.draw": {"20ms", "20ms"}, "Store::sync": {"20ms", "20ms"}}},
		{[]string{"-sample_index=samples", basePath}, map[string][2]string{
			"mail.Main.main": {"0", "80"}, "mail.Inbox.draw": {"40", "40"}, "Store::sync": {"40", "40"}}},
		{[]string{"-diff_base", basePath, headPath}, map[string][2]string{
			"mail.Main.main": {"0", "120000microjoules"}, "mail.Inbox.draw": {"0", "0"}, "Store::sync": {"120000microjoules", "120000microjoules"}}},
		{[]string{"-tagfocus=kind=jit", basePath}, map[string][2]string{
			"mail.Main.main": {"0", "40000microjoules"}, "mail.Inbox.draw": {"40000microjoules", "40000microjoules"}}},
	} {
		rows, shown := top(t, c.args...)
		want := c.want
		if strings.HasPrefix(c.args[0], "-diff") {
			delete(rows, "mail.Inbox.draw") // pprof may leave out what did not change
			delete(want, "mail.Inbox.draw")
		}
		if diff := cmp.Diff(want, rows); diff != "" {
			t.Errorf("pprof %v: %s\n%s", c.args[:1], diff, shown)
		}
	}
	if _, shown := top(t, basePath); !strings.Contains(shown, "File: com.example.mail") || !strings.Contains(shown, "Type: energy") {
		t.Errorf("pprof's head is %.200s, want the app and energy", shown)
	}
}

// pprof's pages of a difference contain the methods.
func TestPprofInTheBrowser(t *testing.T) {
	basePath, _ := written(t, made(t, base))
	headPath, _ := written(t, made(t, head))
	cmd := exec.Command(tool(t), "-http=localhost:", "-no_browser", "-diff_base", basePath, headPath)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	address := ""
	for lines := bufio.NewScanner(stderr); address == "" && lines.Scan(); {
		if m := regexp.MustCompile(`http://\S+`).FindString(lines.Text()); m != "" {
			address = m
		}
	}
	if address == "" {
		t.Fatal("pprof does not say where it serves")
	}
	for page, wants := range map[string][]string{
		"/ui/flamegraph": {"Store::sync", "mail.Main.main", "120000"},
		"/ui/top":        {"Store::sync", "mail.Main.main", "120000microjoules"},
	} {
		body := fetch(t, address+page)
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("%s has no %q", page, want)
			}
		}
	}
}

func fetch(t testing.TB, address string) string {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	client := http.Client{Timeout: 20 * time.Second}
	resp, err := client.Get(address)
	// pprof prints its address before it listens there.
	for tick := range time.Tick(20 * time.Millisecond) {
		if err == nil || tick.After(deadline) {
			break
		}
		resp, err = client.Get(address)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", address, resp.Status, err)
	}
	return string(body)
}

func ExamplePprof() {
	p, err := export.Pprof([]methods.Trace{iteration(20, 50)}, export.About{App: "com.example.mail", Source: "model"})
	if err != nil {
		panic(err)
	}
	fmt.Println(p.DefaultSampleType, len(p.Sample))
	// Output: energy 2
}
