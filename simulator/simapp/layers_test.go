package simapp

import (
	"reflect"
	"strings"
	"testing"
)

// layered is the beginning of a file with views.
const layered = "apkgate-simulated-app/1\npackage a.b\n"

func TestLayers(t *testing.T) {
	a, err := Parse([]byte(layered + "cost 3ms\nlayers a.Page id page bare\nlayers a.Photo in page at 0,10-100,1000 invisible # no more\nlayers a.Menu id menu gone\n"))
	want := []Layer{
		{Class: "a.Page", ID: "page", Below: -1, At: [4]int{0, 0, 100, 100}, Bare: true, Seen: 'V'},
		{Class: "a.Photo", Below: 0, At: [4]int{0, 10, 100, 1000}, Seen: 'I'},
		{Class: "a.Menu", ID: "menu", Below: -1, At: [4]int{0, 0, 100, 100}, Seen: 'G'},
	}
	if err != nil || !reflect.DeepEqual(a.Layers, want) {
		t.Errorf("%+v, %v", a.Layers, err)
	}
	if without, err := Parse([]byte(layered + "cost 3ms\n")); err != nil || a.Plain != without.Plain {
		t.Errorf("views change what chance gives an app: %q, %v", a.Plain, err)
	}
	if _, err := Parse([]byte(layered + strings.Repeat("layers a.B at 5,5-5,5\n", maxLayers))); err != nil {
		t.Errorf("%d layers: %v", maxLayers, err)
	}
}

func TestLayersErrors(t *testing.T) {
	for line, why := range map[string]string{
		"layers":                                    "line 3: want the class of a view",
		"layers 5":                                  "is not a class name",
		"layers a b":                                `"b" is not one of id, in, at, bare, invisible, gone`,
		"layers a.B b gone":                         `"b" is not one of id`,
		"layers a.B id":                             `"id" has no value`,
		"layers a.B id x;y":                         "is not a resource's name",
		"layers a.B in b":                           `no layer before this one has the id "b"`,
		"layers a.B at 0,0-100":                     "is not LEFT,TOP-RIGHT,BOTTOM in percent",
		"layers a.B at 0,0,100,9":                   "is not LEFT,TOP-RIGHT,BOTTOM in percent",
		"layers a.B at 0,x-100,9":                   "is not LEFT,TOP-RIGHT,BOTTOM in percent",
		"layers a.B at 50,0-40,100":                 "is not LEFT,TOP-RIGHT,BOTTOM in percent",
		"layers a.B at 0,50-40,40":                  "is not LEFT,TOP-RIGHT,BOTTOM in percent",
		"layers a.B at 0,0-100,1001":                "is not LEFT,TOP-RIGHT,BOTTOM in percent",
		strings.Repeat("layers a.B\n", maxLayers+1): "more than 500 layers",
	} {
		if _, err := Parse([]byte(layered + line + "\n")); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%.40s: %v, want %q", line, err, why)
		}
	}
}
