package layout

import (
	"regexp"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/report/figure"
)

func TestFramesMarkWhatIsCutOff(t *testing.T) {
	in := regression()
	v := in.Verdict.Runs[0]
	fig, ok := figure.NewFrames(device(v), in.Runs[0], flaggedEvents(v))
	if !ok || v.ID != in.Runs[0].ID {
		t.Fatalf("no picture of %s with the frames of %s", v.ID, in.Runs[0].ID)
	}
	svg := fig.Draw("p", "wide", 800)
	if !strings.Contains(svg, `class="wedge"`) {
		t.Error("frames longer than the picture is tall are not marked")
	}
	for _, want := range []string{"▼ E2", "23 of 68", "16.67 ms", "Frames of Google Nexus 9 (Android 5.0.0)"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	if err := wellFormed(svg); err != nil {
		t.Error(err)
	}
}

func TestRuleGraph(t *testing.T) {
	svg := graph(patterns(regression().Verdict.Rules)).Draw("p", "wide", 600)
	if n := strings.Count(svg, "<circle"); n != 7 {
		t.Errorf("%d circles, want one for each of 7 rules", n)
	}
	radii := map[string]int{}
	for _, m := range regexp.MustCompile(` r="([\d.]+)"`).FindAllStringSubmatch(svg, -1) {
		radii[m[1]]++
	}
	// The area follows the support: half the support, 1/√2 of the radius.
	if radii["10"] != 4 || radii["7.1"] != 3 {
		t.Errorf("radii %v, want four of 10 and three of 7.1", radii)
	}
}
