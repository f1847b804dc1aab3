package farms

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device/farm"
)

// A round that both builds lost gives both reasons, separated and in one line.
func TestLostRoundOfBothBuilds(t *testing.T) {
	t.Parallel()
	err := errors.Join(errors.New("the base build: the test failed"), errors.New("the head build: the app\t crashed\n"))
	if got, want := lostRound(2, err), "round 3: the base build: the test failed; the head build: the app crashed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// With a paid plan, minutes are reserved: those of running matrices, those spent, and the limit for
// unknown ones. Of 45, two builds may take 20 each, and no third one fits.
func TestReserveMinutes(t *testing.T) {
	t.Parallel()
	phones := []farm.Device{{Model: "a", Version: "1"}, {Model: "b", Version: "1"}}
	rates := []farm.Rate{{Device: phones[0], Flat: true}, {Device: phones[1], Flat: true}}
	o := farm.Order{Devices: phones, Within: 10 * time.Minute}
	s := &site{config: &config.Config{Farm: &config.Farm{BrowserStack: &config.BrowserStack{MaxMinutes: 45}}}, rates: rates}
	back, err := s.reserve(o)
	if _, err2 := s.reserve(o); err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	refused := func(want string) {
		t.Helper()
		if _, err := s.reserve(o); !errors.Is(err, errSpent) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want that %s", err, want)
		}
	}
	refused("it could take 60 minutes of devices, and farm.browserstack.max-minutes allows 45")
	back()
	s.pay(func(b *farm.Bill) { b.Add(rates, []farm.Outcome{{Minutes: 2, Known: true}, {Minutes: 2, Known: true}}) })
	back, err = s.reserve(o) // 4 + 20 + 20
	if err != nil {
		t.Fatal(err)
	}
	back()
	s.pay(func(b *farm.Bill) { b.AddUnknown(rates, o.Within) })
	refused("it could take 64 minutes")
}
