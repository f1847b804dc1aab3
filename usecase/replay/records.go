package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/device/recording"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore"
	"github.com/apkgate/apkgate/usecase/atomicfile"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// lossOf returns the loss of a replay that ended before its run.
func lossOf(j collect.Job, err error) error {
	return &loss.Error{
		Cause: loss.Infrastructure, Device: j.Device, Err: err, Final: true,
		Advice: "docs/recording.md says what ends a replay; record again, or replay with the apkgate that recorded",
	}
}

// readRuns reads the recorded runs, if there are any.
func (r *Replay) readRuns() error {
	path := filepath.Join(r.Dir, RunsFile)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return exit.Usage(atomicfile.Error("read", path, err), "")
	}
	defer func() { _ = file.Close() }()
	for its, err := range runstore.ReadJSONL(file) {
		if err != nil {
			return exit.Usage(fmt.Errorf("read %s: %w", terminal.Plain(path), err), "")
		}
		r.recorded[its.Started.UnixMilli()] = its
	}
	return nil
}

// maxDifferences limits how many differences of two records are listed.
const maxDifferences = 8

// Differences returns the places in which two records of a run differ, and how many more there are;
// none if they are the same byte for byte.
func Differences(was, now run.Run) (places []string, more int, err error) {
	return differences(was, now, func(record []byte) []byte { return record })
}

// Blacked is Differences with the secrets blacked out in the first record. A blacked-out trace has
// another digest, which is ignored.
func Blacked(was, now run.Run, black *recording.Blackout) (places []string, more int, err error) {
	for i := range was.Evidence {
		if i < len(now.Evidence) && was.Evidence[i].Bytes == now.Evidence[i].Bytes {
			was.Evidence = slices.Clone(was.Evidence)
			was.Evidence[i].Digest = now.Evidence[i].Digest
		}
	}
	return differences(was, now, black.Bytes)
}

func differences(was, now run.Run, change func([]byte) []byte) (places []string, more int, err error) {
	a, errA := encoded(was)
	b, errB := encoded(now)
	if a = change(a); errA != nil || errB != nil || bytes.Equal(a, b) {
		return nil, 0, errors.Join(errA, errB)
	}
	var before, after any
	if err := errors.Join(json.Unmarshal(a, &before), json.Unmarshal(b, &after)); err != nil {
		return nil, 0, fmt.Errorf("compare two records: %w", err)
	}
	all := differ("", before, after)
	if len(all) == 0 {
		all = []string{"it is written otherwise"}
	}
	if more = len(all) - maxDifferences; more > 0 {
		return all[:maxDifferences], more, nil
	}
	return all, 0, nil
}

func encoded(r run.Run) ([]byte, error) {
	r, err := r.Named()
	if err != nil {
		return nil, fmt.Errorf("name a run: %w", err)
	}
	return run.Encode(r)
}

// differ compares two decoded JSON values.
func differ(at string, a, b any) []string {
	switch a := a.(type) {
	case map[string]any:
		other, ok := b.(map[string]any)
		if !ok {
			break
		}
		names := map[string]bool{}
		for name := range a {
			names[name] = true
		}
		for name := range other {
			names[name] = true
		}
		var out []string
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if at != "" || name != "id" { // which follows from everything else
				out = append(out, differ(at+"."+name, a[name], other[name])...)
			}
		}
		return out
	case []any:
		other, ok := b.([]any)
		if !ok || len(a) != len(other) {
			break
		}
		var out []string
		for i := range a {
			out = append(out, differ(at+"["+strconv.Itoa(i)+"]", a[i], other[i])...)
		}
		return out
	}
	was, _ := json.Marshal(a)
	now, _ := json.Marshal(b)
	if bytes.Equal(was, now) {
		return nil
	}
	return []string{fmt.Sprintf("%s was %s and is %s", at[1:], prose.Short(string(was)), prose.Short(string(now)))}
}
