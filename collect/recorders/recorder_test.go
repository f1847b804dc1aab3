package recorders

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
)

// fake is a recorder that records its calls.
type fake struct {
	name   string
	asked  bool
	breaks string // "start" or "stop"
	did    *[]string
}

func (f *fake) does(what string) error {
	*f.did = append(*f.did, f.name+" "+what)
	if f.breaks == what {
		return errors.New(what + ": broken")
	}
	return nil
}

func (f *fake) Serves(string) bool                                     { return f.asked }
func (f *fake) Start(context.Context) error                            { return f.does("start") }
func (f *fake) Keep(context.Context, int) (string, error)              { return "", nil }
func (f *fake) Stop(context.Context) error                             { return f.does("stop") }
func (f *fake) Fetch(context.Context, func(io.ReadSeeker) error) error { return nil }
func (f *fake) Drop(context.Context) error                             { return f.does("drop") }
func (f *fake) Close()                                                 {}

// Recorders that nobody requested are not started, the last to start is the first to stop, and each
// repetition starts afresh, whatever happened to the one before.
func TestSetLifetime(t *testing.T) {
	t.Parallel()
	var did []string
	trace, samples, idle := &fake{"trace", true, "", &did}, &fake{"samples", true, "", &did}, &fake{"idle", false, "", &did}
	s := Set{All: []Recorder{trace, idle, samples}}
	lost := func(_ Recorder, err error) error { return err }
	for range 2 {
		did = nil
		if err := errors.Join(s.Start(t.Context(), lost), s.Stop(t.Context(), lost), s.Drop(t.Context())); err != nil {
			t.Fatal(err)
		}
		if want := []string{"trace start", "samples start", "samples stop", "trace stop", "trace drop", "samples drop"}; !slices.Equal(did, want) {
			t.Errorf("done: %q, want %q", did, want)
		}
		_ = s.Start(t.Context(), lost) // and the device is lost
	}
}

// A failed recorder that can be done without does not keep the others from recording.
func TestSetContinuesWithoutARefusedRecorder(t *testing.T) {
	t.Parallel()
	without := func(Recorder, error) error { return nil }
	for breaks, want := range map[string][]string{
		"start": {"trace start", "samples start", "samples stop", "samples drop"},
		"stop":  {"trace start", "samples start", "samples stop", "trace stop", "samples drop"},
	} {
		var did []string
		trace, samples := &fake{"trace", true, breaks, &did}, &fake{"samples", true, "", &did}
		s := Set{All: []Recorder{trace, samples}}
		if err := errors.Join(s.Start(t.Context(), without), s.Stop(t.Context(), without), s.Drop(t.Context())); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(did, want) {
			t.Errorf("%s breaks: done %q, want %q", breaks, did, want)
		}
		lost := func(_ Recorder, err error) error { return err }
		if err := errors.Join(s.Start(t.Context(), lost), s.Stop(t.Context(), lost)); err == nil {
			t.Errorf("%s breaks where it is needed: no error", breaks)
		}
	}
}
