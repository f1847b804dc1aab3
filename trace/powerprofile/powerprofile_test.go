package powerprofile_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/powerprofile"
)

func read(t *testing.T, text string) powerprofile.Profile {
	t.Helper()
	p, err := powerprofile.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// warned reports whether the line has a warning that contains part.
func warned(p powerprofile.Profile, line int, part string) bool {
	for _, w := range p.Warnings {
		if w.Line == line && strings.Contains(w.Text, part) {
			return true
		}
	}
	return false
}

func device(body string) string {
	return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<device name=\"Android\">\n" + body + "</device>\n"
}

func TestReadItemsAndUnits(t *testing.T) {
	t.Parallel()
	p := read(t, device(`<item name="battery.capacity">4614</item>
<item name="screen.on">98</item> <!-- <item name="screen.on">1</item> -->
<item name="modem.controller.voltage"> 3700 </item>
<array name="modem.controller.tx"><value>223</value><!-- weak --><value>.5</value></array>
<array name="wifi.controller.tx_levels"/>
<array name="cpu.core_speeds.cluster0"><value>300000</value></array>
<array name="cpu.clusters.cores"><value>4</value></array>
`))
	want := []powerprofile.Item{
		{Name: "battery.capacity", Line: 3, Unit: powerprofile.MilliAmpereHour, Values: []float64{4614}},
		{Name: "screen.on", Line: 4, Unit: powerprofile.MilliAmpere, Values: []float64{98}},
		{Name: "modem.controller.voltage", Line: 5, Unit: powerprofile.MilliVolt, Values: []float64{3700}},
		{Name: "modem.controller.tx", Line: 6, Unit: powerprofile.MilliAmpere, Array: true, Values: []float64{223, 0.5}},
		{Name: "wifi.controller.tx_levels", Line: 7, Unit: powerprofile.MilliAmpere, Array: true, Values: []float64{}},
		{Name: "cpu.core_speeds.cluster0", Line: 8, Unit: powerprofile.KiloHertz, Array: true, Values: []float64{300000}},
		{Name: "cpu.clusters.cores", Line: 9, Unit: powerprofile.Count, Array: true, Values: []float64{4}},
	}
	if d := cmp.Diff(want, p.Items); d != "" {
		t.Error(d)
	}
	if v, ok := p.Value("screen.on"); v != 98 || !ok || p.Device != "Android" {
		t.Errorf("screen.on %g, %v of %q", v, ok, p.Device)
	}
	if _, ok := p.Value("modem.controller.tx"); ok {
		t.Error("an array was taken for an item")
	}
}

func array(name string, values ...string) string {
	return `<array name="` + name + `"><value>` + strings.Join(values, "</value><value>") + "</value></array>\n"
}

func TestEveryLayoutOfTheCPU(t *testing.T) {
	t.Parallel()
	cluster := 5.94
	for layout, c := range map[powerprofile.Layout]struct {
		body string
		want []powerprofile.Cluster
	}{
		powerprofile.Single: {
			array("cpu.speeds", "400000", "800000") + array("cpu.active", "50", "90"),
			[]powerprofile.Cluster{{SpeedsKHz: []float64{400000, 800000}, PowerMA: []float64{50, 90}}},
		},
		powerprofile.Clusters: {
			array("cpu.clusters.cores", "4", "2") +
				array("cpu.speeds.cluster0", "400000") + array("cpu.active.cluster0", "50") +
				array("cpu.speeds.cluster1", "900000") + array("cpu.active.cluster1", "150"),
			[]powerprofile.Cluster{
				{Index: 0, Cores: 4, SpeedsKHz: []float64{400000}, PowerMA: []float64{50}},
				{Index: 1, Cores: 2, SpeedsKHz: []float64{900000}, PowerMA: []float64{150}},
			},
		},
		powerprofile.CorePower: {
			array("cpu.clusters.cores", "8") + array("cpu.core_speeds.cluster0", "400000") +
				array("cpu.core_power.cluster0", "1.89") + `<item name="cpu.cluster_power.cluster0">5.94</item>` +
				`<item name="cpu.active">12</item>`,
			[]powerprofile.Cluster{{Cores: 8, SpeedsKHz: []float64{400000}, PowerMA: []float64{1.89}, ClusterMA: &cluster}},
		},
		powerprofile.NoCPU: {`<item name="audio">75</item>`, nil},
	} {
		p := read(t, device(c.body))
		if d := cmp.Diff(c.want, p.CPU); d != "" || p.Layout != layout || len(p.Warnings) != 0 {
			t.Errorf("%q, want %q: %v\n%s", p.Layout, layout, p.Warnings, d)
		}
	}
}

func TestScalingPolicies(t *testing.T) {
	t.Parallel()
	power := 2.5
	p := read(t, device(`<item name="cpu.scaling_policy_power.policy4">2.5</item>`+
		array("cpu.scaling_step_power.policy0", "10", "20")+array("cpu.scaling_step_power.policy4", "30")))
	want := []powerprofile.Policy{{Policy: 0, StepMA: []float64{10, 20}}, {Policy: 4, PowerMA: &power, StepMA: []float64{30}}}
	if d := cmp.Diff(want, p.Policies); d != "" || p.Layout != powerprofile.Scaling {
		t.Errorf("%q\n%s", p.Layout, d)
	}
}

func TestModemStates(t *testing.T) {
	t.Parallel()
	p := read(t, device(`<modem><sleep>1</sleep><idle>2</idle>
<active rat="DEFAULT"><receive>10</receive><transmit level="0">20</transmit><transmit level="4">60</transmit></active>
<active rat="NR" nrFrequency="MMWAVE"><receive>15</receive></active>
</modem>`))
	want := []powerprofile.ModemState{
		{State: "sleep", PowerMA: 1},
		{State: "idle", PowerMA: 2},
		{State: "receive", RAT: "DEFAULT", PowerMA: 10},
		{State: "transmit", RAT: "DEFAULT", Level: 0, PowerMA: 20},
		{State: "transmit", RAT: "DEFAULT", Level: 4, PowerMA: 60},
		{State: "receive", RAT: "NR", NRFrequency: "MMWAVE", PowerMA: 15},
	}
	if d := cmp.Diff(want, p.Modem); d != "" || len(p.Warnings) != 0 {
		t.Errorf("%v\n%s", p.Warnings, d)
	}
}

func TestReadDropsInvalidValues(t *testing.T) {
	t.Parallel()
	p := read(t, device(`<item name="audio">75</item>
<item name="video">@integer/video</item>
<item name="gps.on">-1</item>
<item>3</item>
<array name="radio.on"><value>1</value><value>NaN</value></array>
<item name="audio">76</item>
<permission name="x">5</permission>
`))
	if v, _ := p.Value("audio"); v != 76 || len(p.Items) != 2 {
		t.Errorf("%+v: want audio twice, the later one counting", p.Items)
	}
	for line, part := range map[int]string{
		4: "video", 5: "gps.on", 6: "no name", 7: "radio.on", 8: "line 3 already", 9: `"permission"`,
	} {
		if !warned(p, line, part) {
			t.Errorf("no warning of line %d tells of %q: %v", line, part, p.Warnings)
		}
	}
	if len(p.Warnings) != 6 {
		t.Errorf("%v", p.Warnings)
	}
}

func TestReadRejectsOtherFiles(t *testing.T) {
	t.Parallel()
	ok := `<item name="audio">75</item>`
	deep := strings.Repeat("<modem>", 20) + strings.Repeat("</modem>", 20)
	for name, c := range map[string]struct {
		text, part string
		items      int
	}{
		"a document type definition": {"<!DOCTYPE device [<!ENTITY a \"1\">]>\n" + device(ok), "document type", 0},
		"one after the items":        {device(ok) + "<!DOCTYPE device>", "document type", 0},
		"a deep tree":                {device(ok + deep), "deeper than 8", 0},
		"another root":               {"<resources>" + ok + "</resources>", `"resources"`, 0},
		"an entity":                  {device(ok + `<item name="video">&a;</item>`), "entity", 1},
		"an end too early":           {"<device>" + ok, "EOF", 1},
		"a program":                  {"\x7fELF\x02\x01\x01", "", 0},
	} {
		p := read(t, c.text)
		if len(p.Items) != c.items || len(p.Warnings) == 0 && c.part != "" {
			t.Errorf("%s: %d items, %v", name, len(p.Items), p.Warnings)
			continue
		}
		if c.part != "" && !strings.Contains(p.Warnings[0].Text, c.part) {
			t.Errorf("%s: %v, want a warning of %q", name, p.Warnings, c.part)
		}
	}
	for _, huge := range []string{strings.Repeat("\n", 5<<20), strings.Repeat(" ", 2<<20)} {
		if _, err := powerprofile.Read(strings.NewReader(device(ok) + huge)); err == nil {
			t.Errorf("%d MiB were taken for a power profile", len(huge)>>20)
		}
	}
}

func TestUTF16(t *testing.T) {
	t.Parallel()
	text := strings.Replace(device(`<item name="audio">75</item>`), "utf-8", "utf-16", 1)
	wide := []byte{0xFF, 0xFE}
	for _, c := range []byte(text) {
		wide = append(wide, c, 0)
	}
	if v, ok := read(t, string(wide)).Value("audio"); v != 75 || !ok {
		t.Errorf("audio %g, %v", v, ok)
	}
}

func TestInspect(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "the file has no item of a power profile",
		device(`<item name="screen.on.display0">0.1</item><item name="screen.full.display0">0.1</item>`): "placeholders",
		device(`<item name="screen.on">98</item><item name="screen.full">0.1</item>`):                    "",
	} {
		got, err := powerprofile.Inspect(strings.NewReader(text))
		if err != nil || len(got.Metrics) != 0 {
			t.Fatalf("%v, %v", got.Metrics, err)
		}
		said := ""
		for _, w := range got.Warnings {
			said += w.Text
		}
		if want == "" && said != "" || !strings.Contains(said, want) {
			t.Errorf("%q is warned of with %q, want %q", text, said, want)
		}
	}
}

// TestCorpus compares every real profile with what Python's ElementTree finds in it: the items, the
// arrays, their values, the capacity, and the sum of all.
func TestCorpus(t *testing.T) {
	t.Parallel()
	root := corpustest.Path(t, "batterystats", "power_profiles")
	for _, c := range []struct {
		file                  string
		items, arrays, values int
		capacity, sum         float64
		clusters              []int // speeds of each
	}{
		{"asus_X00TD.xml", 29, 9, 18, 5000, 405748, []int{1}},
		{"elephone_p9000.xml", 16, 4, 37, 3000, 1.37615e+07, []int{15}},
		{"google_raviole_oriole---power_profile.xml", 27, 9, 94, 4614, 6.18059e+07, []int{11, 14, 17}},
		{"leeco_zl1.xml", 20, 7, 98, 4070, 5.42553e+07, []int{19, 27}},
		{"lenovo_a390t.xml", 15, 3, 4, 1000, 401004, []int{1}},
		{"lge_g2-common.xml", 16, 3, 30, 3000, 1.64728e+07, []int{14}},
		{"motorola_lake.xml", 17, 6, 30, 3000, 1.3272e+07, []int{6, 4}},
		{"oneplus_instantnoodle.xml", 32, 12, 125, 4320, 8.46314e+07, []int{17, 18, 20}},
		{"oneplus_oneplus3_FrameworksOnePlus3Overlay-res-xml-power_profile.xml", 18, 7, 91, 3000, 4.65347e+07, []int{16, 25}},
		{"oneplus_oneplus3_FrameworksOnePlus3TOverlay-res-xml-power_profile.xml", 18, 7, 101, 3400, 5.42535e+07, []int{19, 27}},
		{"samsung_dreamlte.xml", 18, 7, 75, 3000, 4.49423e+07, []int{12, 21}},
		{"samsung_toroplus.xml", 17, 3, 10, 1750, 3.17445e+06, []int{4}},
		{"sony_amami.xml", 17, 3, 33, 2300, 1.63559e+07, []int{14}},
		{"teracube_2e.xml", 33, 8, 64, 4000, 2.71478e+07, []int{11, 14}},
		{"xiaomi_alioth.xml", 27, 13, 128, 4520, 8.46241e+07, []int{17, 18, 20}},
		{"xiaomi_daisy.xml", 17, 2, 14, 4000, 5.34222e+06, []int{7}},
		{"xiaomi_libra.xml", 16, 3, 28, 3000, 1.48465e+07, []int{13}},
		{"xiaomi_platina.xml", 26, 9, 35, 3350, 1.97671e+07, []int{7, 6}},
	} {
		f, err := os.Open(filepath.Join(root, c.file))
		if err != nil {
			t.Fatal(err)
		}
		p, err := powerprofile.Read(f)
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		items, arrays, values, sum := 0, 0, 0, 0.0
		for _, item := range p.Items {
			if item.Array {
				arrays++
				values += len(item.Values)
			} else {
				items++
			}
			for _, v := range item.Values {
				sum += v
			}
		}
		capacity, _ := p.Value("battery.capacity")
		if items != c.items || arrays != c.arrays || values != c.values || capacity != c.capacity || math.Abs(sum/c.sum-1) > 1e-5 {
			t.Errorf("%s: %d items, %d arrays, %d values, %g mAh, sum %g; want %+v", c.file, items, arrays, values, capacity, sum, c)
		}
		var clusters []int
		for _, cluster := range p.CPU {
			clusters = append(clusters, len(cluster.SpeedsKHz))
		}
		if d := cmp.Diff(c.clusters, clusters); d != "" {
			t.Errorf("%s: speeds of each cluster: %s", c.file, d)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(device(array("cpu.speeds", "1", "2") + `<item name="battery.capacity">3000</item>`)))
	f.Add([]byte(device(`<modem><active rat="NR"><transmit level="1">2</transmit></active></modem>`)))
	f.Add([]byte("<!DOCTYPE device><device/>"))
	f.Add([]byte("<device><item name=\"a\">1<b>2</b></item><array><value/></array></device>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := powerprofile.Read(strings.NewReader(string(data)))
		if err != nil {
			return
		}
		for _, item := range p.Items {
			if item.Name == "" || !item.Array && len(item.Values) != 1 {
				t.Errorf("%+v", item)
			}
			for _, v := range item.Values {
				if math.IsNaN(v) || v < 0 || v > 1e12 {
					t.Errorf("%+v", item)
				}
			}
		}
	})
}

func TestSummary(t *testing.T) {
	t.Parallel()
	seen, err := powerprofile.Inspect(strings.NewReader(device(`<item name="battery.capacity">3000</item>` +
		array("cpu.speeds", "400000", "1800000") + array("cpu.active", "50", "313.5"))))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"3 items, a battery of 3000 mAh", "CPU cluster 0: 2 speeds to 1800 MHz, 50 to 313.5 mA"}
	if d := cmp.Diff(want, seen.Details.(powerprofile.Details).Summary()); d != "" {
		t.Error(d)
	}
}
