// Package anrtraces collects, once a repetition is over, the device's evidence of why a process did
// not respond: the thread stacks that Android has written, its drop box entries, and the log around
// the ANR. They are kept with the run, and the waits found in them are added to the record.
//
// It owns where such files are, which of them a shell may read in which version of Android, and
// which belongs to which ANR. Parsing a dump and interpreting it belong to packages anr, waits and
// signature. Nothing is collected while anything is measured. Missing evidence is a warning, since
// the ANR is measured without it.
package anrtraces

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/r8map"
)

// Asker queries one device.
type Asker struct {
	Target *target.Target
	Keeper evidence.Keeper
	App    string // its package
	// Names are the app's source names, nil if it has no mapping.
	Names *r8map.Map
}

// Repetition describes the finished attempt at a repetition.
type Repetition struct {
	N    int
	Lost bool // it is repeated
	// Lasted is how long ago it began, at most: older files are not of it.
	Lasted time.Duration
	// Own are the dumps that the app itself wrote while it did not respond.
	Own []Dump
	// NoOwn is why a requested dump of the app is missing, "" if none was requested.
	NoOwn string
}

// Dump is the text of a thread dump.
type Dump struct {
	PID    int // of the requested process, 0 for one of Android's own, of several processes
	Text   []byte
	Digest string // of the kept file, "" if none is kept
	// Calls are the unanswered binder calls at that time, as the kernel lists them; nil if it did
	// not.
	Calls []byte
}

// Limits: on the files kept of one ANR, in bytes, and on how long Android may take to write its
// stacks: it stops one process after the other for them.
const (
	maxDump  = 16 << 20
	writes   = 20 * time.Second
	askEvery = 2 * time.Second
)

// Explain finds out what blocked the threads at each of these ANRs, all of one repetition and
// sorted by time, and adds it to them. It returns the kept files.
func (a *Asker) Explain(ctx context.Context, r Repetition, anrs []run.ANR) (kept []run.Evidence) {
	if len(anrs) == 0 {
		return nil
	}
	got := a.await(ctx, r, anrs)
	for i := range anrs {
		one := explaining{Asker: a, repetition: r, anr: &anrs[i], name: fmt.Sprintf("repetition-%d-anr-%d", r.N, i+1)}
		if anrs[i].Kind == run.SNR {
			one.name = fmt.Sprintf("repetition-%d-snr-%d", r.N, i+1)
		}
		one.take(ctx, got, i)
		kept = append(kept, one.kept...)
	}
	return kept
}

// explaining is the state of explaining one ANR.
type explaining struct {
	*Asker
	repetition Repetition
	anr        *run.ANR
	name       string // of its files
	kept       []run.Evidence
}

// take keeps the files of the ANR, and reads them.
func (x *explaining) take(ctx context.Context, got answers, i int) {
	var dumps [][]byte
	if text := got.files[i]; text != nil {
		dumps = append(dumps, text)
		x.keep(ctx, run.ThreadDump, ".txt", text)
	}
	if text := got.boxed[i]; text != nil {
		dumps = append(dumps, text)
		x.keep(ctx, run.ThreadDump, "-dropbox.txt", text)
	}
	var calls []byte
	for _, own := range x.repetition.Own {
		if own.PID == x.anr.PID {
			dumps, calls = append(dumps, own.Text), own.Calls
			if own.Digest != "" {
				x.anr.Evidence = append(x.anr.Evidence, own.Digest)
			}
		}
	}
	x.keep(ctx, run.LogExtract, "-exit-info.txt", []byte(exitOf(got.exits, x.anr.PID)))
	x.keep(ctx, run.LogExtract, "-log.txt", around(got.log, *x.anr))
	if !x.read(dumps, calls) {
		x.Target.Journal.Warnf("repetition %d: which thread kept %s from responding is not known: %s", x.repetition.N, journal.Line(x.anr.Process), got.missing(x.repetition.NoOwn))
	}
}

// keep keeps a file of the ANR unless it is empty.
func (x *explaining) keep(ctx context.Context, kind run.EvidenceKind, suffix string, text []byte) {
	if len(text) == 0 {
		return
	}
	e := run.Evidence{
		Kind: kind, Name: x.name + suffix, Repetition: x.repetition.N, Event: x.anr.Event,
		FromMS: max(x.anr.AtMS-x.anr.WaitedMS, 0), ToMS: x.anr.AtMS, Why: journal.Line(why(*x.anr)),
	}
	if x.repetition.Lost {
		e.Repetition = 0
	}
	var err error
	if e.Digest, e.Bytes, err = x.Keeper.Keep(ctx, bytes.NewReader(text), maxDump); err != nil {
		x.Target.Journal.Warnf("repetition %d: %s could not be kept: %v", x.repetition.N, e.Name, err)
		return
	}
	x.kept = append(x.kept, e)
	if !slices.Contains(x.anr.Evidence, e.Digest) {
		x.anr.Evidence = append(x.anr.Evidence, e.Digest)
	}
}

// exitOf returns what Android reports on the end of a process that it killed for not responding, ""
// if it did not (ApplicationExitInfo.java, dump).
func exitOf(exits string, pid int) string {
	for one := range strings.SplitSeq(exits, "ApplicationExitInfo #") {
		if strings.Contains(one, fmt.Sprintf(" pid=%d ", pid)) && strings.Contains(one, "reason=6 (ANR)") {
			return one
		}
	}
	return ""
}

func why(a run.ANR) string {
	if a.Kind == run.SNR {
		return "Android itself did not respond: " + a.Reason
	}
	return "the app did not respond: " + a.Reason
}
