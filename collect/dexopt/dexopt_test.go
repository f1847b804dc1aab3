package dexopt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect/dexopt"
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device"
)

// answering is a device with canned answers.
type answering struct {
	device.Device
	broadcast, compile, dump string
	code                     int // of the compilation
	gone                     string
	did                      []string
}

func (a *answering) Exec(_ context.Context, line string) (device.Output, error) {
	a.did = append(a.did, line)
	if a.gone != "" && strings.Contains(line, a.gone) {
		return device.Output{}, fmt.Errorf("exec: %w", device.ErrGone)
	}
	switch {
	case strings.HasPrefix(line, "am broadcast"):
		return device.Output{Stdout: []byte(a.broadcast)}, nil
	case strings.HasPrefix(line, "dumpsys package"):
		return device.Output{Stdout: []byte(a.dump)}, nil
	}
	return device.Output{}, nil
}

func (a *answering) Start(_ context.Context, line string) (device.Process, error) {
	a.did = append(a.did, line)
	return &process{strings.NewReader(a.compile), a.code}, nil
}

type process struct {
	io.Reader
	code int
}

func (p *process) Stdout() io.Reader  { return p }
func (p *process) Stderr() []byte     { return nil }
func (p *process) Wait() (int, error) { return p.code, nil }
func (p *process) Close() error       { return nil }

func compiled(t *testing.T, a *answering, how string) (dexopt.State, error) {
	t.Helper()
	d := target.New("pixel", nil, time.Now(), func(context.Context) (device.Device, error) { return a, nil })
	d.Journal = journal.New("pixel", nil)
	if err := d.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dexopt.Compile(t.Context(), d, "com.example", how)
}

const (
	installs = "Broadcasting: Intent { act=androidx.profileinstaller.action.INSTALL_PROFILE flg=0x400000 cmp=com.example/… }\nBroadcast completed: result="
	release  = "    flags=[ HAS_CODE ALLOW_CLEAR_USER_DATA ]\n"
	debug    = "    flags=[ DEBUGGABLE HAS_CODE ]\n"
)

func status(filter string) string {
	return "    path: /data/app/base.apk\n      arm64: [status=" + filter + "]\n"
}

// The answers of the profile installer, the compiler and the package manager, in this order,
// determine the state.
func TestCompileState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		how, result, dump string
		done, debug       bool
		noProfile         string
	}{
		{config.CompileProfile, "1", release + status("speed-profile"), true, false, ""},
		{config.CompileProfile, "2, data=\"x\"", release + status("speed-profile"), true, false, ""}, // it is there already
		{config.CompileProfile, "0", release + status("verify"), true, false, "no androidx.profileinstaller"},
		{config.CompileProfile, "3", release + status("verify"), true, false, "takes no profiles"},
		{config.CompileProfile, "6", release + status("verify"), true, false, "brings none"},
		{config.CompileProfile, "12", release + status("verify"), true, false, "its result is 12"},
		{config.CompileProfile, "x", release + status("verify"), true, false, "doesn't report it"},
		{config.CompileProfile, "1", release + status("verify"), false, false, ""},
		{config.CompileProfile, "6", debug + status("verify"), false, true, "brings none"},
		{config.CompileSpeed, "", debug + status("verify"), false, true, ""},
		{config.CompileSpeed, "", release + status("speed"), true, false, ""},
		{config.CompileSpeed, "", release + status("verify") + status("speed"), true, false, ""}, // a split without code
		{config.CompileSpeed, "", release + status("quicken") + status("verify"), false, false, ""},
		{config.CompileSpeed, "", "", true, false, ""}, // the device does not report it
		{config.CompileVerify, "", release + status("verify"), true, false, ""},
	} {
		a := &answering{broadcast: installs + c.result + "\n", compile: "Success\n", dump: c.dump}
		s, err := compiled(t, a, c.how)
		if err != nil || s.Done() != c.done || s.Debug != c.debug || !strings.Contains(s.NoProfile, c.noProfile) || (s.NoProfile == "") != (c.noProfile == "") {
			t.Errorf("%+v: %+v, done %v, %v", c, s, s.Done(), err)
		}
		broadcast, stopped := strings.Contains(strings.Join(a.did, "\n"), "am broadcast"), strings.Contains(strings.Join(a.did, "\n"), "am force-stop com.example")
		if byProfile := c.how == config.CompileProfile; broadcast != byProfile || stopped != byProfile {
			t.Errorf("%+v: did %q", c, a.did)
		}
		if want := "cmd package compile -m " + c.how + " -f com.example"; !strings.Contains(strings.Join(a.did, "\n"), want) {
			t.Errorf("did %q, want %q", a.did, want)
		}
	}
}

// Of several files, the first that is not compiled as requested determines the state.
func TestCompileOfSeveralFiles(t *testing.T) {
	t.Parallel()
	s, err := compiled(t, &answering{compile: "[com.example] PERFORMED\n", dump: release + status("quicken") + status("verify")}, config.CompileSpeed)
	if err != nil || s.Filter != "quicken" {
		t.Errorf("%+v, %v", s, err)
	}
}

// A refused compilation, in words or by exit status, and a device lost at any command are errors
// that say so.
func TestCompileFails(t *testing.T) {
	t.Parallel()
	for _, a := range []*answering{
		{compile: "Failure: package com.example could not be compiled\n"},
		{compile: "Error: unknown command\n", code: 255},
		{compile: "Success\n", code: 1},
		{},
	} {
		if _, err := compiled(t, a, config.CompileSpeed); err == nil || !strings.Contains(err.Error(), "compile the app ahead of time") {
			t.Errorf("%q, exit status %d: %v", a.compile, a.code, err)
		}
	}
	for _, at := range []string{"am broadcast", "am force-stop", "dumpsys package"} {
		if _, err := compiled(t, &answering{compile: "Success\n", gone: at}, config.CompileProfile); !errors.Is(err, device.ErrGone) {
			t.Errorf("lost at %s: %v", at, err)
		}
	}
}

// IsDebug accepts any text as a device's flags.
func FuzzIsDebug(f *testing.F) {
	f.Add([]byte(debug))
	f.Fuzz(func(t *testing.T, text []byte) {
		if dexopt.IsDebug(string(text)) && !bytes.Contains(text, []byte("DEBUGGABLE")) {
			t.Errorf("%q tells of a debug build", text)
		}
	})
}
