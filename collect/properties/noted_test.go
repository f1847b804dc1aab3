package properties_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/properties"
	"github.com/apkgate/apkgate/run"
)

// A property is stored in one line, a later value replaces an earlier one, and a property without
// room is a warning.
func TestNotedSet(t *testing.T) {
	t.Parallel()
	n := properties.Noted{Values: map[string]string{}, Journal: journal.New("device", nil)}
	n.Set("network", "wifi")
	n.Set("network", " mobile\n")
	n.Set("nothing", " ")
	if len(n.Values) != 1 || n.Values["network"] != "mobile" {
		t.Errorf("noted %q", n.Values)
	}
	for i := range run.MaxContext {
		n.Set(fmt.Sprint("property", i), "x")
	}
	if len(n.Values) != run.MaxContext || len(n.Journal.Warnings) != 1 || !strings.Contains(n.Journal.Warnings[0].Text, "no room for property") {
		t.Errorf("%d properties, warnings %q", len(n.Values), n.Journal.Warnings)
	}
	if n.Set("network", "none"); n.Values["network"] != "none" {
		t.Errorf("network is %q in a full context", n.Values["network"])
	}
}
