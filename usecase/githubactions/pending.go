package githubactions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/apkgate/apkgate/usecase/githubactions/matrixcomment"
)

// jobFolder returns where a job keeps what later steps of it need, "" outside of a runner. The
// runner empties it before each job.
func (r *Runner) jobFolder() string {
	temp := r.getenv("RUNNER_TEMP")
	if temp == "" {
		return ""
	}
	return filepath.Join(temp, "apkgate")
}

// jobMark distinguishes this job from the other jobs of the same run: the legs of a matrix have
// everything else in common. It is the same in all steps of a job, and "" outside of a runner.
func (r *Reporter) jobMark() string {
	dir := r.Runner.jobFolder()
	if dir == "" {
		return ""
	}
	if r.mark == "" {
		r.mark = markIn(filepath.Join(dir, "job-"+runName(r.Job.Run)))
	}
	return r.mark
}

func markIn(file string) string {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return ""
	}
	mark := randomWord()[:8]
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(mark)
		err = errors.Join(err, f.Close())
	}
	if err == nil {
		return mark
	}
	data, err := os.ReadFile(file) // of an earlier step
	if err != nil || len(data) > 64 {
		return ""
	}
	return strings.TrimSpace(string(data))
}

func runName(r matrixcomment.RunRef) string { return fmt.Sprintf("%d-%d", r.ID, r.Attempt) }

// pending is a check run that was started, saved in the job's folder: a step that was killed can't
// end it, and a later step can.
type pending struct {
	Check    string `json:"check"` // its name
	Head     string `json:"head"`
	External string `json:"external"`
	Config   string `json:"config"`
	Leg      string `json:"leg,omitempty"`
	Comment  bool   `json:"comment,omitempty"` // whether to comment
	file     string
}

// remember saves the check run before it is started.
func (r *Reporter) remember(p pending) {
	dir := r.Runner.jobFolder()
	if dir == "" {
		return
	}
	data, err := json.Marshal(p)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	file := filepath.Join(dir, "check-"+runName(r.Job.Run)+"-"+randomWord()[:8]+".json")
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		r.Runner.Log("If this step is killed, its check run stays in progress: " + err.Error())
		return
	}
	r.pending = file
}

// forget removes it once the check run has ended.
func (r *Reporter) forget() {
	if r.pending != "" {
		os.Remove(r.pending)
	}
	r.pending = ""
}

// left returns the check runs that earlier steps of this job started and did not end.
func (r *Reporter) left() ([]pending, error) {
	dir := r.Runner.jobFolder()
	if dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for check runs that were not ended: %w", err)
	}
	var out []pending
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "check-"+runName(r.Job.Run)+"-") {
			continue
		}
		p := pending{file: filepath.Join(dir, e.Name())}
		data, err := os.ReadFile(p.file)
		if err == nil {
			err = json.Unmarshal(data, &p)
		}
		if err != nil {
			return nil, fmt.Errorf("look for check runs that were not ended: %w", err)
		}
		out = append(out, p)
	}
	return out, nil
}

// End ends each check run that a killed earlier step of this job started, and posts to the comment
// that there is no verdict. It returns their number.
func (r *Reporter) End(ctx context.Context) (ended int, err error) {
	left, err := r.left()
	if err != nil || len(left) == 0 {
		return 0, err
	}
	if r.Client == nil {
		return 0, errors.New("end the check run: there is no token")
	}
	defer r.warn("")
	for _, p := range left {
		r.Name, r.Leg = p.Config, p.Leg
		r.check = r.Client.findCheck(ctx, p.Check, p.Head, p.External)
		if r.check != nil && !r.check.done {
			r.end(ctx, "The step that measured was ended before there was a verdict.")
			ended++
		}
		if p.Comment && r.Job.Pull != nil && (r.check == nil || !r.check.done) {
			r.noVerdict(ctx, "the step that measured was ended")
		}
		r.pending = p.file
		r.forget()
	}
	return ended, nil
}
