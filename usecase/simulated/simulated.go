// Package simulated starts simulated phones for a command: each is reached by adb like any other
// device.
//
// It owns their environment variables: which session it is, and which faults occur on which phone.
// How a phone behaves belongs to package simulator.
package simulated

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/simapp"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// The environment variables of simulated phones.
const (
	// Session is the number of the session of simulated phones: a whole number from 1.
	Session = "APKGATE_SIMULATED_SESSION"
	// Faults are the faults of stations, "pixel #2: hang at 12s; pixel #3: die".
	Faults = "APKGATE_SIMULATED_FAULTS"
)

// Phones creates the phones of a command.
type Phones struct {
	seed   uint64
	faults map[string][]simapp.Fault // by station
}

// Of reads the environment. session is the session within the command, counted from 0: as with real
// phones, a phone is then a little faster or slower than before.
func Of(c terminal.Console, session int) (Phones, error) {
	seed, err := seedOf(c, session)
	if err != nil {
		return Phones{}, err
	}
	faults, err := faultsOf(c.Getenv(Faults))
	if err != nil {
		return Phones{}, exit.Usage(fmt.Errorf("%s: %w", Faults, err), "")
	}
	return Phones{seed, faults}, nil
}

// seedOf returns the same seed on every computer, for each session.
func seedOf(c terminal.Console, session int) (uint64, error) {
	first := uint64(1)
	if text := c.Getenv(Session); text != "" {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil || n == 0 {
			return 0, exit.Usage(fmt.Errorf("%s is %q, want a whole number from 1 to %d", Session, prose.Short(text), 1<<31-1), "")
		}
		first = n
	}
	return first + uint64(session)<<32, nil
}

// faultsOf parses "STATION: FAULT; STATION: FAULT".
func faultsOf(text string) (map[string][]simapp.Fault, error) {
	faults := map[string][]simapp.Fault{}
	for _, entry := range strings.Split(text, ";") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		at := strings.LastIndex(entry, ": ")
		if at < 1 {
			return nil, fmt.Errorf("%q is not STATION: FAULT, such as pixel #2: hang at 12s", prose.Short(entry))
		}
		fault, err := simapp.ParseFault(entry[at+2:])
		if err != nil {
			return nil, err
		}
		station := entry[:at]
		faults[station] = append(faults[station], fault)
	}
	return faults, nil
}

// Start starts a phone of a profile, as a station.
func (p Phones) Start(station, profile string) (*simulator.Simulated, error) {
	phone, err := simulator.Start(profile, p.seed, simulator.Options{Faults: p.faults[station]})
	if err != nil {
		return nil, exit.Infrastructure(fmt.Errorf("start the simulated %s: %w", profile, err))
	}
	return phone, nil
}

// Open returns the connection to a phone, which asks for no key.
func Open(phone *simulator.Simulated) func(context.Context) (device.Device, error) {
	noKeys := adb.Options{Keys: func() ([]*adb.Key, error) { return nil, nil }}
	return func(ctx context.Context) (device.Device, error) { return adb.Dial(ctx, phone.Address(), noKeys) }
}
