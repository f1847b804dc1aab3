package applog

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/apkgate/apkgate/run"
)

// Late is a frame that was seen late.
type Late struct {
	At   time.Duration // the vsync for which it was meant, on CLOCK_MONOTONIC
	Took time.Duration
	By   time.Duration // how much longer than allowed
}

// worst is the trace of the repetition with the latest frame of the run, on this computer: which
// one that is, is known only at the end.
type worst struct {
	late  Late
	of    run.Evidence
	trace *os.File // nil if it is kept already
}

// offer holds the trace of a repetition back if its latest frame is the latest of the run so far.
// kept is its name if it is kept anyway.
func (w *Watcher) offer(n int, s Seen, kept string, fetch func(read func(io.ReadSeeker) error) error) error {
	late := s.Late
	if late == nil || s.Lost != nil || w.worst != nil && late.By <= w.worst.late.By {
		return nil
	}
	held := &worst{late: *late, of: run.Evidence{
		Kind: run.PerfettoTrace, Repetition: n, Event: s.eventAt(late.At),
		FromMS: milliseconds(late.At), ToMS: milliseconds(late.At + late.Took),
		Why: fmt.Sprintf("worst frame of the run: %d ms (%d ms over its budget)", late.Took.Milliseconds(), late.By.Milliseconds()),
	}}
	if kept == "" {
		if err := fetch(held.copy); err != nil {
			return err
		}
	}
	w.dropWorst()
	w.worst = held
	return nil
}

// copy copies the trace to a temporary file.
func (k *worst) copy(trace io.ReadSeeker) error {
	file, err := os.CreateTemp("", "apkgate-worst-*")
	if err != nil {
		return fmt.Errorf("hold the trace back: %w", err)
	}
	if _, err := io.Copy(file, io.LimitReader(trace, maxTrace)); err != nil {
		remove(file)
		return fmt.Errorf("hold the trace back: %w", err)
	}
	k.trace = file
	return nil
}

func remove(file *os.File) {
	_ = file.Close()
	_ = os.Remove(file.Name())
}

func (w *Watcher) dropWorst() {
	if w.worst != nil && w.worst.trace != nil {
		remove(w.worst.trace)
	}
	w.worst = nil
}

// Close keeps the trace that was held back, after the last repetition.
func (w *Watcher) Close(ctx context.Context) {
	defer w.dropWorst()
	if w.worst == nil || w.worst.trace == nil {
		return
	}
	e := w.worst.of
	e.Name = w.fileName(e.Repetition)
	_, err := w.worst.trace.Seek(0, io.SeekStart)
	if err == nil {
		e.Digest, e.Bytes, err = w.Keeper.Keep(ctx, w.worst.trace, maxTrace)
	}
	if err != nil {
		w.Target.Journal.Warnf("repetition %d: its trace, with the latest frame of the run, could not be kept: %v", e.Repetition, err)
		return
	}
	w.Kept = append(w.Kept, e)
}
