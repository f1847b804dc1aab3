package judging

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/apkgate/apkgate/diagnose/anrcause"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/inputfiles"
	"github.com/apkgate/apkgate/usecase/settings"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Accepted are the runs of files, all of which count as accepted. They are read once. Of each the
// summary and the ANRs are kept, and the compressed run if it records where its energy went, or what
// its frames or its main thread did.
type Accepted struct {
	index  *runstore.Index
	packed map[string][]byte          // by id
	anrs   map[string][]anrcause.Past // by package
	newest []run.Run                  // the last ones in full, up to keep
}

// OfFiles reads files of accepted runs, and keeps the last ones in full.
func OfFiles(c terminal.Console, files []string, f inputfiles.ImportFlags, set settings.Settings, keep int) (*Accepted, error) {
	options, err := f.Options()
	if err != nil {
		return nil, err
	}
	a := &Accepted{index: runstore.NewIndex(set.Policy.Centre), packed: map[string][]byte{}, anrs: map[string][]anrcause.Past{}}
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		for r, err := range inputfiles.RunsIn(c, path, options) {
			if err == nil {
				err = a.add(r, pack, keep)
			}
			if errors.Is(err, runstore.ErrConflict) {
				return nil, inputfiles.SameID(files, r.ID)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return a, nil
}

func (a *Accepted) add(r run.Run, pack *zstd.Encoder, keep int) error {
	added, err := a.index.Add(r)
	if err != nil {
		if errors.Is(err, runstore.ErrConflict) {
			return err
		}
		return exit.Usage(err, "")
	}
	if !added {
		return nil
	}
	if known := a.anrs[r.App.Package]; len(r.ANRs) > 0 && len(known) < runstore.MaxANRRuns {
		a.anrs[r.App.Package] = append(known, PastOf(runstore.ANRsOf(runstore.Entry{Run: r, Mark: runstore.Mark{State: runstore.Accepted}})))
	}
	if r.Energy != nil || explained(r) {
		data, err := run.Encode(r)
		if err != nil {
			return exit.Usage(err, "")
		}
		a.packed[r.ID] = pack.EncodeAll(data, nil)
	}
	if keep > 0 {
		if len(a.newest) >= 2*keep {
			a.newest = append(a.newest[:0:0], a.newest[len(a.newest)-keep+1:]...)
		}
		a.newest = append(a.newest, r)
	}
	return nil
}

// Last returns the last runs, at most n.
func (a *Accepted) Last(n int) []run.Run { return a.newest[max(0, len(a.newest)-n):] }

// whole returns a run that records where its energy went, or what its frames or its main thread did.
func (a *Accepted) whole(id string) (run.Run, error) {
	packed, ok := a.packed[id]
	if !ok {
		return run.Run{}, fmt.Errorf("run %s: %w", id, runstore.ErrNotFound)
	}
	open, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(run.MaxBytes))
	if err != nil {
		return run.Run{}, err
	}
	defer open.Close()
	data, err := open.DecodeAll(packed, nil)
	if err != nil {
		return run.Run{}, err
	}
	return run.Decode(data)
}

// Past returns these runs as a history.
func (a *Accepted) Past(set settings.Settings) Past {
	return Past{
		Like: func(r run.Run) ([]run.Summary, error) {
			refs, err := a.index.References(Query(r, set))
			if err != nil {
				return nil, exit.Usage(fmt.Errorf("read the history: %w", err), "")
			}
			return refs, nil
		},
		whole: a.whole,
		anrs:  func(pkg string) ([]anrcause.Past, error) { return a.anrs[pkg], nil },
	}
}
