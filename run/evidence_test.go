package run

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// traced returns a run that kept a trace for a slow event.
func traced() Run {
	r := hungry()
	r.Energy = nil
	r.Evidence = []Evidence{{
		Digest: strings.Repeat("0a", 32), Kind: PerfettoTrace, Name: "open-1.pftrace", Bytes: 1_500_000,
		Repetition: 1, Event: "tap: open", FromMS: 12_000, ToMS: 13_250.5, Why: "a frame took 820 ms",
	}}
	return r
}

func TestEvidenceSurvivesTheCodec(t *testing.T) {
	data, err := Encode(traced())
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(traced(), got); diff != "" {
		t.Errorf("after a round trip (-want +got):\n%s", diff)
	}
}

func TestInvalidEvidence(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Evidence)
		want   string
	}{
		"no digest":               {func(e *Evidence) { e.Digest = "" }, `digest is ""`},
		"a short digest":          {func(e *Evidence) { e.Digest = e.Digest[2:] }, "digest is"},
		"upper case":              {func(e *Evidence) { e.Digest = strings.ToUpper(e.Digest) }, "digest is"},
		"a path for a digest":     {func(e *Evidence) { e.Digest = strings.Repeat("../", 21) + "a" }, "digest is"},
		"no kind":                 {func(e *Evidence) { e.Kind = "" }, `kind is ""`},
		"a kind with a blank":     {func(e *Evidence) { e.Kind = "a trace" }, "kind is"},
		"no name":                 {func(e *Evidence) { e.Name = "" }, `name is ""`},
		"a path for a name":       {func(e *Evidence) { e.Name = "../../.bashrc" }, "name is"},
		"a Windows path":          {func(e *Evidence) { e.Name = `c:\trace` }, "name is"},
		"a hidden file":           {func(e *Evidence) { e.Name = ".profile" }, "name is"},
		"an option":               {func(e *Evidence) { e.Name = "-rf" }, "name is"},
		"a name that ends in dot": {func(e *Evidence) { e.Name = "trace." }, "name is"},
		"a line break in a name":  {func(e *Evidence) { e.Name = "a\nb" }, "name is"},
		"a long name":             {func(e *Evidence) { e.Name = strings.Repeat("a", 129) }, "name is"},
		"negative size":           {func(e *Evidence) { e.Bytes = -1 }, "bytes is -1"},
		"beyond all sizes":        {func(e *Evidence) { e.Bytes = math.MaxInt64 }, "bytes is"},
		"repetition below zero":   {func(e *Evidence) { e.Repetition = -1 }, "repetition is -1"},
		"time below zero":         {func(e *Evidence) { e.FromMS = -1 }, "from_ms"},
		"backwards":               {func(e *Evidence) { e.FromMS = e.ToMS + 1 }, "before from_ms"},
		"not a time":              {func(e *Evidence) { e.ToMS = math.NaN() }, "to_ms"},
		"not UTF-8":               {func(e *Evidence) { e.Event = "\xff" }, "not valid UTF-8"},
		"a long reason":           {func(e *Evidence) { e.Why = strings.Repeat("a", MaxText+1) }, "at most 4096"},
	} {
		r := traced()
		c.change(&r.Evidence[0])
		if _, err := Encode(r); err == nil || !strings.Contains(err.Error(), "evidence[0].") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want evidence[0] and %q", name, err, c.want)
		}
	}
	r := traced()
	for len(r.Evidence) <= MaxEvidence {
		r.Evidence = append(r.Evidence, r.Evidence[0])
	}
	if _, err := Encode(r); err == nil || !strings.Contains(err.Error(), "evidence has 201 entries, at most 200") {
		t.Errorf("too many files: %v", err)
	}
}

// A later apkgate may keep files of a kind that this one does not know.
func TestEvidenceOfUnknownKind(t *testing.T) {
	data, err := Encode(traced())
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.Replace(data, []byte(`"kind":"perfetto"`), []byte(`"kind":"heap-dump","since":"later"`), 1)
	got, err := Decode(data)
	if err != nil || got.Evidence[0].Kind != "heap-dump" {
		t.Errorf("%+v, %v", got.Evidence, err)
	}
}

func TestNullInEvidenceIsRejected(t *testing.T) {
	data, err := Encode(traced())
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.Replace(data, []byte(`"bytes":1500000`), []byte(`"bytes":null`), 1)
	if _, err := Decode(data); err == nil || !strings.Contains(err.Error(), "evidence has a null") {
		t.Errorf("a null: %v", err)
	}
}
