package target

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/devicelock"
	"github.com/apkgate/apkgate/simulator"
)

// owned is a phone that a run has taken.
func owned(t *testing.T) (*simulator.Simulated, *Target) {
	t.Helper()
	s, d := onPhone(t, simulator.Options{})
	if err := d.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := d.Own(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	return s, d
}

// rival is another user of the phone; the error says who has it.
func rival(t *testing.T, s *simulator.Simulated) (*Target, error) {
	t.Helper()
	d := New("pixel", s.Clock(), time.Now(), nil)
	direct, err := onThe(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = direct.Close() })
	d.Journal, d.dev, d.Owner = journal.New("pixel", nil), &supervised{Device: direct, wall: HostClock(), clock: HostClock()}, &devicelock.Owner{PID: 2, Host: "elsewhere"}
	return d, d.Own(t.Context(), 0)
}

func pass(t *testing.T, s *simulator.Simulated, d time.Duration) {
	t.Helper()
	if err := s.Clock().Sleep(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}

// A running run keeps its phone, whatever it does and however long a silence it announces.
func TestOwnKeepsThePhone(t *testing.T) {
	t.Parallel()
	s, d := owned(t)
	for name, do := range map[string]func() error{
		"asks":         func() error { _, err := d.Ask(t.Context(), "getprop ro.product.model"); return err },
		"looks":        func() error { return d.Renew(t.Context()) },
		"is asked for": func() error { _, err := d.dev.Device.Exec(t.Context(), d.dev.empty()); return err },
	} {
		for range 10 {
			pass(t, s, 90*time.Second)
			if err := do(); err != nil {
				t.Fatal(name, err)
			}
		}
		if _, err := rival(t, s); err == nil || !strings.Contains(err.Error(), "in use by here (pid 1)") {
			t.Errorf("a run that %s: %v", name, err)
		}
	}
	if err := d.Leave(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	pass(t, s, time.Hour)
	if _, err := rival(t, s); !errors.As(err, new(*devicelock.HeldError)) {
		t.Errorf("in a silence that was told: %v", err)
	}
}

// A run that was silent for too long, as on a computer that slept, gets its phone back unless
// somebody else took it. Otherwise it ends, and changes nothing on the phone any more.
func TestOwnAfterALongSilence(t *testing.T) {
	t.Parallel()
	for _, taken := range []bool{false, true} {
		s, d := owned(t)
		if err := d.Hold(t.Context(), "system", "a", "2"); err != nil {
			t.Fatal(err)
		}
		pass(t, s, time.Hour)
		if taken {
			if _, err := rival(t, s); err != nil {
				t.Fatal(err)
			}
		} else {
			shell(t, s, "rm -r /data/local/tmp/apkgate-owner.*")
		}
		out, err := d.Ask(t.Context(), "echo answer")
		if !taken && (err != nil || string(out.Stdout) != "answer\n") || taken && (loss.As(err) == nil || !strings.Contains(err.Error(), "in use by elsewhere")) {
			t.Errorf("taken %v: %q, %v", taken, out.Stdout, err)
		}
		shell(t, s, "settings put system b 1; am start -W com.android.systemui/.X")
		before := shell(t, s, "settings list system; ls /data/local/tmp")
		d.TearDown(t.Context(), "com.example")
		if after := shell(t, s, "settings list system; ls /data/local/tmp"); (after == before) != taken {
			t.Errorf("taken %v: left with %q, before %q", taken, after, before)
		}
	}
}

// Left reports the changes and their owner without changing anything.
func TestLeft(t *testing.T) {
	t.Parallel()
	s, d := owned(t)
	if err := d.Hold(t.Context(), "system", "a", "2"); err == nil {
		err = d.Hold(t.Context(), "global", "b", "3")
		if err != nil {
			t.Fatal(err)
		}
	}
	direct, err := onThe(s)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = direct.Close() }()
	if left, by, err := Left(t.Context(), direct); err != nil || len(left) != 0 || by == nil || by.Host != "here" {
		t.Errorf("while it is in use: %v by %v, %v", left, by, err)
	}
	pass(t, s, time.Hour)
	for range 2 {
		left, by, err := Left(t.Context(), direct)
		if want := "unset the setting a; unset the setting b"; err != nil || by != nil || strings.Join(left, "; ") != want {
			t.Errorf("afterwards: %v by %v, %v; want %s", left, by, err, want)
		}
	}
	_ = direct.Close()
	if _, _, err := Left(t.Context(), direct); !errors.Is(err, device.ErrGone) {
		t.Errorf("of a device that is gone: %v", err)
	}
}
