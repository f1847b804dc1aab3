package collect_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// standing is a fault of the demo app in its second repetition.
func standing(t *testing.T, text string) simapp.Fault {
	t.Helper()
	f, err := simapp.ParseFault("anr at 1s repetition 3 " + text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Whatever a shell may read of an ANR in that version of Android is kept, without root: the record
// says which thread waited for which.
func TestLockOwnerOfAnANR(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profile, fault string
		kind           string
		threads        []string // names, and what each waits for, of those in the app
		files          []string
	}{
		{"pixel-7-android-14", "because lock Writer", run.ANRInput, []string{"main", "lock com.example.demo.Store held by Writer", "Writer", ""}, []string{"-anr-1.txt", "-anr-1-dropbox.txt", "-anr-1-log.txt"}},
		{"pixel-5-android-11", "because binder com.example.store com.example.IStore::load", run.ANRInput, []string{"main", "binder com.example.IStore::load (com.example.store, likely)"}, []string{"-anr-1.txt", "-anr-1-dropbox.txt", "-anr-1-log.txt"}},
		{"pixel-3-android-9", "because lock Writer", run.ANRInput, []string{"main", "lock com.example.demo.Store held by Writer", "Writer", ""}, []string{"-anr-1.txt", "-anr-1-dropbox.txt", "-anr-1-log.txt"}},
		{"moto-g5-android-7.0", "because lock Writer", run.ANRInput, []string{"main", "lock com.example.demo.Store held by Writer", "Writer", ""}, []string{"-anr-1.txt", "-anr-1-dropbox.txt", "-anr-1-log.txt"}},
	} {
		t.Run(c.profile, func(t *testing.T) {
			t.Parallel()
			_, job, folder, _ := watched(t, c.profile, config.KeepWorst, simulator.Options{Faults: []simapp.Fault{standing(t, c.fault)}})
			r := collect.Collect(t.Context(), job, collect.Options{Evidence: folder})
			wantComplete(t, r, 3)
			if _, err := run.Encode(r.Run); err != nil {
				t.Fatalf("the record is not valid: %v", err)
			}
			if len(r.Run.ANRs) != 1 {
				t.Fatalf("%+v; %v", r.Run.ANRs, r.Run.Warnings)
			}
			a := r.Run.ANRs[0]
			var threads []string
			for _, th := range a.Threads {
				if th.Process == "" {
					threads = append(threads, th.Name, th.WaitsFor)
				} else if th.Process != "com.example.store" || !th.Critical {
					t.Errorf("%+v is in the chain", th)
				}
			}
			if a.Kind != c.kind || !slices.Equal(threads, c.threads) || a.Signature == "" || !slices.Contains(a.Features, "cpu: low") {
				t.Errorf("%+v; %v", a, r.Run.Warnings)
			}
			for _, suffix := range c.files {
				wantFile(t, folder, r.Run, "repetition-2"+suffix)
			}
			if len(a.Evidence) != len(c.files) {
				t.Errorf("the ANR names %q as its files", a.Evidence)
			}
		})
	}
}

// wantFile checks for a kept file of that name of the second repetition, which mentions the app.
func wantFile(t *testing.T, folder *evidence.Folder, r run.Run, name string) {
	t.Helper()
	i := slices.IndexFunc(r.Evidence, func(e run.Evidence) bool { return e.Name == name })
	if i < 0 {
		t.Errorf("%s is not kept: %+v; %v", name, r.Evidence, r.Warnings)
		return
	}
	e := r.Evidence[i]
	file, err := folder.Open(e.Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil || e.Repetition != 2 || e.ToMS <= 0 || !strings.Contains(string(text), r.App.Package) || !strings.HasPrefix(e.Why, "the app did not respond: ") {
		t.Errorf("%+v: %v, %d bytes", e, err, len(text))
	}
}
