// Package anrtraces asks a device, once a repetition is over, for what tells why a
// process did not respond: the stacks of threads that Android has written, what its drop
// box says, and the log around it. What is had is kept with the run, and read into the
// record: who waited for whom.
//
// It owns where such things lie, which of them a shell may read in which version of
// Android, and which belongs to which ANR. How a dump is read and what it tells are package
// anr's, waits' and signature's. It takes two stands: nothing is asked while anything is
// measured; and what can't be had is a warning, since the ANR is measured without it.
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

// Asker asks one device.
type Asker struct {
	Target *target.Target
	Keeper evidence.Keeper
	App    string // its package
	// Names are those of the app's source, nil where it has no mapping.
	Names *r8map.Map
}

// Repetition is what is known of the attempt at a repetition that is over.
type Repetition struct {
	N    int
	Lost bool // it is made again
	// Lasted is how long ago it began, at most: older things are not its.
	Lasted time.Duration
	// Own are the dumps that the app wrote itself while it stood still.
	Own []Dump
	// NoOwn is why one that it was told to write is not there, "" where it was not told to.
	NoOwn string
}

// Dump is the text of a dump of threads.
type Dump struct {
	PID    int // that it was asked of, 0 for one of Android's own, of several processes
	Text   []byte
	Digest string // of the file that is kept of it, "" where none is
	// Calls are the calls through binder that were not answered at that time, as the
	// kernel lists them; nil where it did not tell.
	Calls []byte
}

// Bounds: of what is kept of one ANR, in bytes, and how long Android is given to write
// stacks that it has not written yet: it stops one process after the other for them.
const (
	maxDump  = 16 << 20
	writes   = 20 * time.Second
	askEvery = 2 * time.Second
)

// Explain finds out what stood still at each of these ANRs, all of one repetition and by
// time, and writes it into them. It returns the files that were kept.
func (a *Asker) Explain(ctx context.Context, r Repetition, anrs []run.ANR) (kept []run.Evidence) {
	if len(anrs) == 0 {
		return nil
	}
	told := a.await(ctx, r, anrs)
	for i := range anrs {
		one := explaining{Asker: a, repetition: r, anr: &anrs[i], name: fmt.Sprintf("repetition-%d-anr-%d", r.N, i+1)}
		if anrs[i].Kind == run.SNR {
			one.name = fmt.Sprintf("repetition-%d-snr-%d", r.N, i+1)
		}
		one.take(ctx, told, i)
		kept = append(kept, one.kept...)
	}
	return kept
}

// explaining is one ANR while it is explained.
type explaining struct {
	*Asker
	repetition Repetition
	anr        *run.ANR
	name       string // of its files
	kept       []run.Evidence
}

// take keeps all that belongs to the ANR, and reads it.
func (x *explaining) take(ctx context.Context, told told, i int) {
	var dumps [][]byte
	if text := told.files[i]; text != nil {
		dumps = append(dumps, text)
		x.keep(ctx, run.ThreadDump, ".txt", text)
	}
	if text := told.boxed[i]; text != nil {
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
	x.keep(ctx, run.LogExtract, "-exit-info.txt", []byte(exitOf(told.exits, x.anr.PID)))
	x.keep(ctx, run.LogExtract, "-log.txt", around(told.log, *x.anr))
	if !x.read(dumps, calls) {
		x.Target.Journal.Warnf("repetition %d: which thread kept %s from responding is not known: %s", x.repetition.N, journal.Line(x.anr.Process), told.none(x.repetition.NoOwn))
	}
}

// keep keeps a file of the ANR; an empty one is none.
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

// exitOf is what Android says of the end of a process that it ended since it did not
// respond, "" where it did not (ApplicationExitInfo.java, dump).
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
