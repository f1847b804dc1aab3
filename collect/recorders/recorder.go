package recorders

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
)

// Recorder records on the device in parallel with the workload, from Start to Stop, for all
// requesters. It is reused for each repetition.
type Recorder interface {
	// Serves reports whether the named requester requested a recording; "" is any.
	Serves(who string) bool
	// Start returns once it records.
	Start(ctx context.Context) error
	// Keep saves the recording so far in a file on the device, the n-th of a repetition, from 1,
	// and continues. It returns "" if it can't.
	Keep(ctx context.Context, n int) (path string, err error)
	// Stop ends the recording. Its file is complete when Stop returns.
	Stop(ctx context.Context) error
	// Fetch copies the file from the device, once, and calls read with it.
	Fetch(ctx context.Context, read func(io.ReadSeeker) error) error
	// Drop removes the file, here and on the device.
	Drop(ctx context.Context) error
	// Close removes temporary files on this computer.
	Close()
}

// Set are all recorders of a device.
type Set struct {
	All []Recorder // in the order in which they start

	running []Recorder
}

// Start starts the requested recorders. refused decides what a failed start means: nil continues
// without the recorder.
func (s *Set) Start(ctx context.Context, refused func(Recorder, error) error) error {
	s.running = nil
	for _, r := range s.All {
		if !r.Serves("") {
			continue
		}
		if err := r.Start(ctx); err == nil {
			s.running = append(s.running, r)
		} else if err := refused(r, err); err != nil {
			return err
		}
	}
	return nil
}

// Runs reports whether the recorder was started.
func (s *Set) Runs(r Recorder) bool { return slices.Contains(s.running, r) }

// Stop stops all that were started, the last first.
func (s *Set) Stop(ctx context.Context, refused func(Recorder, error) error) error {
	for _, r := range slices.Backward(slices.Clone(s.running)) {
		if err := r.Stop(ctx); err != nil {
			s.running = slices.DeleteFunc(s.running, func(o Recorder) bool { return o == r })
			if err := refused(r, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// Drop removes the files of all that were started.
func (s *Set) Drop(ctx context.Context) error {
	var errs []error
	for _, r := range s.running {
		errs = append(errs, r.Drop(ctx))
	}
	s.running = nil
	return errors.Join(errs...)
}

// Close removes temporary files on this computer.
func (s *Set) Close() {
	for _, r := range s.All {
		r.Close()
	}
}

// recording is the file of a recorder, on the device and, once it is fetched, here.
type recording struct {
	path   string
	copied *os.File
}

func (f *recording) fetch(ctx context.Context, p *Programs, read func(io.ReadSeeker) error) (err error) {
	if f.copied == nil {
		if f.copied, err = p.pull(ctx, f.path); err != nil {
			return err
		}
	}
	return readFrom(f.copied, f.path, read)
}

func (f *recording) drop(ctx context.Context, p *Programs) error {
	f.close()
	return p.Target.Try(ctx, "rm", "-f", f.path)
}

func (f *recording) close() {
	if f.copied != nil {
		discard(f.copied)
	}
	f.copied = nil
}
