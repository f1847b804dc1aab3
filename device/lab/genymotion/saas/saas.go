// Package saas boots virtual devices in Genymotion's cloud, through the vendor's program
// gmsaas.
//
// It owns how gmsaas is told and what its answers mean, by the sources of three versions
// of it (2019 to 2022 and later) and the vendor's reference of 2026; docs/labs.md says
// which. How a device is measured is not its affair, and neither is logging in: gmsaas
// has its own token, which this package neither reads into a lease nor shows.
//
// It takes a stand: an instance costs money for as long as it runs, so none is started
// that could not be stopped again, each has a longest duration, and it is stopped only
// once the platform lists it no more.
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

// Kind is the lab's, as a configuration names it.
const Kind = "genymotion-saas"

// How long the commands of gmsaas may take. They wait by themselves for what they were
// asked for, and what they say as they give up tells more than that they were killed: so
// each limit is above gmsaas's own.
const (
	shortly       = 2 * time.Minute   // to ask: some calls to the platform, of 30 s at most each
	tunnelTimeout = 100 * time.Second // GMSAAS_ADBCONNECT_TIMEOUT is 40 s
	stopTimeout   = 2 * time.Minute   // GMSAAS_STOP_TIMEOUT is 60 s
	startTimeout  = 240 * time.Second // GMSAAS_START_TIMEOUT, where it is not set
)

// Lab is Genymotion's cloud.
type Lab struct {
	computer   genymotion.Computer
	lookEvery  time.Duration // as Stop does
	watchEvery time.Duration // as long as an instance is in use
	mayAppear  time.Duration

	mu      sync.Mutex
	watches map[string]*watch // by the instance's name
}

// New is the lab, on a computer.
func New(c genymotion.Computer) *Lab {
	c.Paid = true
	return &Lab{computer: c, lookEvery: 3 * time.Second, watchEvery: 15 * time.Second, mayAppear: mayAppear, watches: map[string]*watch{}}
}

// Kind is "genymotion-saas".
func (l *Lab) Kind() string { return Kind }

// Check looks whether gmsaas is here, is logged in, knows Android's SDK and reaches the
// platform.
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

// startWithin is how long start may take: as long as gmsaas waits, and a minute for what
// it does besides.
func (l *Lab) startWithin() time.Duration {
	within := startTimeout
	if s, err := strconv.Atoi(l.computer.Getenv("GMSAAS_START_TIMEOUT")); err == nil && s > 0 && s < 24*3600 {
		within = time.Duration(s) * time.Second
	}
	return within + time.Minute
}

// list asks for all instances.
func (l *Lab) list(ctx context.Context, doing string) (answer, error) {
	return l.ask(ctx, doing, shortly, "instances", "list")
}

// gmsaas is the program.
var gmsaas = genymotion.Program{
	Lab: called, Name: "gmsaas",
	Missing: boot.Error{What: "gmsaas is not in the PATH", Advice: "pip install gmsaas"},
}

// ask runs a command of gmsaas, whose answer is JSON. An old adbconnect that worked prints
// nothing: that is an answer, too.
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

// tokenVariable is where gmsaas looks for its token; nothing that apkgate says shows it.
const tokenVariable = "GENYMOTION_API_TOKEN"

func (l *Lab) withoutToken(text string) string {
	if token := l.computer.Getenv(tokenVariable); len(token) > 3 {
		return strings.ReplaceAll(text, token, "[token]")
	}
	return text
}
