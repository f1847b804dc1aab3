package phone

import (
	"slices"
	"strings"
	"testing"

	diagnosis "github.com/apkgate/apkgate/diagnose/anrcause"
	records "github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr"
	"github.com/apkgate/apkgate/trace/anr/signature"
	"github.com/apkgate/apkgate/trace/anr/waits"
)

// TestReasonsAreFound: the reason for a standstill is found in the drop box, on phones whose
// dumps contain more and less. A process that an older phone does not dump stays unknown.
func TestReasonsAreFound(t *testing.T) {
	t.Parallel()
	call := "binder com.example.peer com.example.IPeer::ask"
	for _, phone := range []string{"pixel-7-android-14", "pixel-3-android-9", "moto-g5-android-7.0", "nexus-5-android-4.4.4"} {
		for because, want := range map[string][]string{
			"lock Writer": {diagnosis.LockKind}, "deadlock Filler": {diagnosis.DeadlockKind}, "disk": {diagnosis.IOKind}, "memory": {diagnosis.MemoryKind},
			"cpu": {diagnosis.CPUKind}, "work com.example.still.Json.parse": {diagnosis.WorkKind}, "idle": {diagnosis.IdleKind},
			call: {diagnosis.BinderKind}, call + " disk": {diagnosis.IOKind, diagnosis.BinderKind}, call + " lock Other": {diagnosis.BinderKind},
		} {
			p, _, _ := standsStill(t, phone, "because "+because)
			d, err := anr.Read(strings.NewReader(output(t, p, "dumpsys dropbox --print data_app_anr")))
			if err != nil {
				t.Fatalf("%s on %s: %v", because, phone, err)
			}
			a := records.ANR{Kind: records.ANRInput, Repetition: 1}
			waits.Of(d, waits.Subject{}).Fill(&a)
			signature.Fill(&a, d, nil)
			causes := diagnosis.Over(nil).Explain(records.Run{ANRs: []records.ANR{a}}, nil)
			if !slices.Contains(want, causes[0].Kind) {
				t.Errorf("%s on %s: %v of %+v, want %q", because, phone, causes[0].Kind, a, want)
			}
		}
	}
}
