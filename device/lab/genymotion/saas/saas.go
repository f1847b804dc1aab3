// Package saas boots virtual devices in Genymotion's cloud, through the vendor's program
// gmsaas.
//
// It owns the command lines for gmsaas and the parsing of its output, by the sources of three
// versions of it (2019 to 2022 and later) and the vendor's reference of 2026; docs/collection/labs.md
// has the sources. It neither measures devices nor logs in: gmsaas has its own token, which this
// package neither writes to a lease nor shows.
//
// An instance is billed for as long as it runs. So none is started that could not be stopped
// again, each has a time limit, and it counts as stopped only once the platform no longer
// lists it.
package saas

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/genymotion"
	"github.com/apkgate/apkgate/internal/prose"
)

// Kind is the lab's name in a configuration.
const Kind = "genymotion-saas"

// Timeouts of the commands of gmsaas. gmsaas waits for the results itself, and its message on
// a timeout explains more than killing it, so each limit is above gmsaas's own.
const (
	shortly       = 2 * time.Minute   // for a query: several calls to the platform, of at most 30 s each
	tunnelTimeout = 100 * time.Second // GMSAAS_ADBCONNECT_TIMEOUT is 40 s
	stopTimeout   = 2 * time.Minute   // GMSAAS_STOP_TIMEOUT is 60 s
	startTimeout  = 240 * time.Second // the default of GMSAAS_START_TIMEOUT
)

// Lab is Genymotion's cloud.
type Lab struct {
	computer   genymotion.Computer
	lookEvery  time.Duration // the interval of Stop
	watchEvery time.Duration // the interval while an instance is in use
	mayAppear  time.Duration

	mu      sync.Mutex
	watches map[string]*watch // by the instance's name
}

// New returns the lab on a computer.
func New(c genymotion.Computer) *Lab {
	c.Paid = true
	return &Lab{computer: c, lookEvery: 3 * time.Second, watchEvery: 15 * time.Second, mayAppear: mayAppear, watches: map[string]*watch{}}
}

// Kind is "genymotion-saas".
func (l *Lab) Kind() string { return Kind }

// Check checks whether gmsaas is installed, logged in, configured with Android's SDK and
// reaches the platform.
func (l *Lab) Check(ctx context.Context) []device.Finding {
	a, err := l.ask(ctx, "ask gmsaas for its version", shortly, "--version")
	if err != nil {
		return []device.Finding{boot.Finding("gmsaas", err, "")}
	}
	found := []device.Finding{{Name: "gmsaas", OK: true, Detail: "version " + prose.Clip(prose.OneLine(a.Version), 40)}}
	a, err = l.list(ctx, "list the instances")
	if err != nil {
		return append(found, boot.Finding("account", err, ""))
	}
	return append(found, device.Finding{Name: "account", OK: true, Detail: "logged in; it runs " + prose.Count(len(a.Instances), "instance", "instances") + " now"})
}

// startWithin returns the timeout of start: gmsaas's own, and a minute for the rest.
func (l *Lab) startWithin() time.Duration {
	within := startTimeout
	if s, err := strconv.Atoi(l.computer.Getenv("GMSAAS_START_TIMEOUT")); err == nil && s > 0 && s < 24*3600 {
		within = time.Duration(s) * time.Second
	}
	return within + time.Minute
}

// list returns all instances.
func (l *Lab) list(ctx context.Context, doing string) (answer, error) {
	return l.ask(ctx, doing, shortly, "instances", "list")
}

// gmsaas is the program.
var gmsaas = genymotion.Program{
	Lab: called, Name: "gmsaas",
	Missing: boot.Error{What: "gmsaas is not in the PATH", Advice: "pip install gmsaas"},
}

// ask runs a command of gmsaas, whose answer is JSON. A successful old adbconnect prints
// nothing, which is also an answer.
func (l *Lab) ask(ctx context.Context, doing string, within time.Duration, args ...string) (answer, error) {
	r, err := l.computer.Run(ctx, gmsaas, doing, within, within, append([]string{"--format", "compactjson"}, args...)...)
	switch {
	case err != nil:
		return answer{}, err
	case r.ExitCode != 0:
		said := readRefusal(r.ExitCode, r.Stdout, r.Stderr)
		said.message = l.withoutToken(said.message)
		return answer{}, &genymotion.RefusedError{Code: said.code, Said: said.message, Failed: said.failed(doing)}
	case len(strings.TrimSpace(string(r.Stdout))) == 0 && slices.Contains(args, "adbconnect"):
		return answer{}, nil
	}
	a, err := readAnswer(r.Stdout)
	if err != nil {
		return a, &boot.Error{Lab: called, What: doing + ": " + l.withoutToken(err.Error()), Advice: adviceUpdate}
	}
	return a, nil
}

// tokenVariable is where gmsaas reads its token; no output of apkgate contains it.
const tokenVariable = "GENYMOTION_API_TOKEN"

func (l *Lab) withoutToken(text string) string {
	if token := l.computer.Getenv(tokenVariable); len(token) > 3 {
		return strings.ReplaceAll(text, token, "[token]")
	}
	return text
}
