// Package githubactions is apkgate's interface to a GitHub workflow: the runner's protocol (inputs,
// outputs, job summary, workflow commands), the pull request of the workflow, and what is posted to
// it: one comment and one check run. The rows of a comment belong to package matrixcomment, the report
// folder to package artifact.
//
// It computes no verdict and does not word one: both come as a layout.Input. It reads no
// configuration and drives no device.
//
// GitHub's answers can't change a verdict. If a token may only read or GitHub is unreachable, the
// same report is in the job summary and in the artifact, one warning says so, and the build's
// result is the verdict's. Payloads, artifacts and names are hostile: the pull request is the
// event's, never one that an artifact names.
package githubactions

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sethvargo/go-githubactions"

	"github.com/apkgate/apkgate/internal/prose"
)

// Runner implements the protocol of the GitHub runner. Outside of a runner, where the variables are
// not set, outputs and the summary are discarded.
type Runner struct {
	action  *githubactions.Action
	out     io.Writer
	getenv  func(string) string
	secrets []string
	// summaryAt is the size of the job summary before the last addition.
	summaryAt int64
}

// NewRunner returns a Runner that reads variables with getenv and writes workflow commands and log
// lines to out.
func NewRunner(out io.Writer, getenv func(string) string) *Runner {
	return &Runner{
		action: githubactions.New(githubactions.WithWriter(out), githubactions.WithGetenv(getenv)),
		out:    out, getenv: getenv,
	}
}

// Input returns the action's input of that name, in kebab-case. The runner passes it to a
// JavaScript action as INPUT_FAIL-ON; a composite action's shell supports only INPUT_FAIL_ON, so
// both are read.
func (r *Runner) Input(name string) string {
	if v := r.action.GetInput(name); v != "" {
		return v
	}
	return r.action.GetInput(strings.ReplaceAll(name, "-", "_"))
}

// Mask hides a secret in everything that this Runner writes, and makes the runner hide it in its
// log. Without a runner to read it, the command is not written.
func (r *Runner) Mask(secret string) {
	if secret == "" {
		return
	}
	if r.getenv("GITHUB_ACTIONS") == "true" {
		fmt.Fprintln(r.out, (&githubactions.Command{Name: "add-mask", Message: secret}).String())
	}
	r.secrets = append(r.secrets, secret)
}

// redact replaces the secrets in a text.
func (r *Runner) redact(s string) string {
	for _, secret := range r.secrets {
		s = strings.ReplaceAll(s, secret, "***")
	}
	return s
}

// Log writes one line to the log. Untrusted text in it can't start a workflow command.
func (r *Runner) Log(text string) { fmt.Fprintln(r.out, inert(prose.OneLine(r.redact(text)))) }

// Warn writes a warning that the workflow's page shows.
func (r *Runner) Warn(text string) { r.command("warning", text, nil) }

// command writes a workflow command; the library escapes the text.
func (r *Runner) command(name, text string, properties map[string]string) {
	fmt.Fprintln(r.out, (&githubactions.Command{Name: name, Message: r.redact(text), Properties: properties}).String())
}

// StopCommands makes the runner treat everything that is printed as plain text until the returned
// function is called: the output of devices and apps is printed in between. Only the random word
// that is chosen here ends it.
func (r *Runner) StopCommands() (resume func()) {
	word := "apkgate-" + randomWord()
	fmt.Fprintln(r.out, "::stop-commands::"+word)
	return func() { fmt.Fprintln(r.out, "::"+word+"::") }
}

// inert keeps a line from being parsed as a workflow command. The runner looks for "::" at a line's
// start and for "##[" anywhere.
func inert(line string) string {
	line = strings.ReplaceAll(line, "##[", "# #[")
	if strings.HasPrefix(line, "::") {
		return ": " + line[1:]
	}
	return line
}

// MaxSummary is GitHub's limit on the summary of one step, in bytes.
const MaxSummary = 1 << 20

// TakeBackSummary removes from the job summary what Summary has appended last.
func (r *Runner) TakeBackSummary() error {
	path := r.getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	if err := os.Truncate(path, r.summaryAt); err != nil {
		return fmt.Errorf("rewrite the job summary: %w", err)
	}
	return nil
}

// Summary appends Markdown to the job summary. render is called with the remaining bytes of
// MaxSummary, unless less than 1 KiB is left.
func (r *Runner) Summary(render func(limit int) (string, error)) error {
	path := r.getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	used := 0
	r.summaryAt = 0
	if info, err := os.Stat(path); err == nil {
		used = int(min(info.Size(), MaxSummary))
		r.summaryAt = info.Size()
	}
	left := MaxSummary - used - 1
	if left < 1024 {
		return fmt.Errorf("write the job summary: %d bytes of %d are used by others", used, MaxSummary)
	}
	text, err := render(left)
	if err != nil {
		return err
	}
	return appendTo(path, r.redact(text)+"\n")
}
