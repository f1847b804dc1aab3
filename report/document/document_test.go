package document

import "testing"

func TestPlacesFallBack(t *testing.T) {
	p := Places{"": {Path: "apkgate.yml"}, "scroll": {Path: "Scroll.kt", Line: 3}}
	if got := p.Of("scroll"); got != (Place{"Scroll.kt", 3}) {
		t.Errorf("the known scenario is at %v", got)
	}
	if got := p.Of("other"); got != (Place{Path: "apkgate.yml"}) {
		t.Errorf("the unknown scenario is at %v", got)
	}
	if got := Places(nil).Of("other"); got != (Place{}) {
		t.Errorf("without places it is at %v", got)
	}
}
