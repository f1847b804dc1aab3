package artifact

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
)

// Limits in bytes on the runs of a report, which are all kept in memory.
const (
	maxRunsFile = 32 << 20 // compressed
	// maxRunsText limits them as JSON. Decoded, JSON may take ten times its length: this is as much
	// as a small runner has, and yet twice the largest record, or hundreds of usual ones with frames.
	maxRunsText = 128 << 20
)

// WriteRuns adds the judged runs to a report folder, for another job of this run to show: their
// frames, their repetitions and what was kept with them are in no verdict.
func WriteRuns(dir string, runs []run.Run) error {
	var b bytes.Buffer
	w, err := runstore.Compress(&b, RunsFile)
	if err == nil {
		_, err = runstore.WriteJSONL(w, func(yield func(run.Run, error) bool) {
			for _, r := range runs {
				if !yield(r, nil) {
					return
				}
			}
		})
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, RunsFile), b.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write the runs of the report: %w", err)
	}
	return nil
}

// ReadRuns reads those of a verdict from a report folder that ReadFolder has accepted; none
// if it has no such file. Whoever wrote it may have made it to fill the reader's memory.
func ReadRuns(dir string, v gate.Verdict) ([]run.Run, error) {
	f, err := os.Open(filepath.Join(dir, RunsFile))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > maxRunsFile {
		return nil, fmt.Errorf("read the runs of the report: %s has %d bytes, at most %d MiB are allowed", RunsFile, info.Size(), maxRunsFile>>20)
	}
	wanted := map[string]bool{}
	for _, r := range v.Runs {
		wanted[r.ID] = true
	}
	var out []run.Run
	read := 0
	for r, err := range runstore.ReadLimitedJSONL(io.LimitReader(f, maxRunsFile), maxRunsText) {
		if err != nil {
			return nil, fmt.Errorf("read the runs of the report: %w", err)
		}
		if read++; read > len(v.Runs) {
			return nil, fmt.Errorf("read the runs of the report: there are more than the %d of its verdict", len(v.Runs))
		}
		if wanted[r.ID] {
			wanted[r.ID] = false
			out = append(out, r)
		}
	}
	return out, nil
}
