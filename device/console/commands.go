package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Network is the state of the emulated network, as reported by or requested of the console.
type Network struct {
	Up, Down int64 // the limits in bits per second; 0 is no limit
	// Least and Most are the range of the delay of incoming packets; each packet has a random
	// delay between them.
	Least, Most time.Duration
}

// Network returns the emulated network: `network status`.
func (c *Console) Network(ctx context.Context) (Network, error) {
	text, err := c.Do(ctx, "network status")
	if err != nil {
		return Network{}, err
	}
	return ReadNetwork(text)
}

// The lines of `network status` (do_network_status in the emulator's console.cpp).
var (
	speedLine   = regexp.MustCompile(`(?m)^\s*(download|upload) speed:\s+(\d{1,18}) bits/s`)
	latencyLine = regexp.MustCompile(`(?m)^\s*(minimum|maximum) latency:\s+(\d{1,9}) ms`)
)

// ReadNetwork parses the output of `network status`. Each of its four lines must be present.
func ReadNetwork(text string) (Network, error) {
	said := map[string]int64{}
	for _, m := range append(speedLine.FindAllStringSubmatch(text, -1), latencyLine.FindAllStringSubmatch(text, -1)...) {
		said[m[1]], _ = strconv.ParseInt(m[2], 10, 64)
	}
	for _, name := range []string{"download", "upload", "minimum", "maximum"} {
		if _, there := said[name]; !there {
			return Network{}, fmt.Errorf("read the emulator's network status: no line of the %s in %s", name, quoted(text))
		}
	}
	return Network{
		Up: said["upload"], Down: said["download"],
		Least: time.Duration(said["minimum"]) * time.Millisecond,
		Most:  time.Duration(said["maximum"]) * time.Millisecond,
	}, nil
}

// SetNetwork sets the emulated network, and verifies that the console reports it. The console
// takes speeds in kbit/s and delays in ms; fractions are cut off.
func (c *Console) SetNetwork(ctx context.Context, want Network) error {
	want.Up -= want.Up % 1000
	want.Down -= want.Down % 1000
	want.Least, want.Most = want.Least.Truncate(time.Millisecond), want.Most.Truncate(time.Millisecond)
	for _, command := range []string{
		fmt.Sprintf("network speed %d:%d", want.Up/1000, want.Down/1000),
		fmt.Sprintf("network delay %d:%d", want.Least.Milliseconds(), want.Most.Milliseconds()),
	} {
		if _, err := c.Do(ctx, command); err != nil {
			return err
		}
	}
	got, err := c.Network(ctx)
	if err == nil && got != want {
		err = fmt.Errorf("the emulator's console was set to emulate %s, but reports %s", want, got)
	}
	return err
}

func (n Network) String() string {
	return fmt.Sprintf("%d:%d bits/s up:down with a delay of %d to %d ms", n.Up, n.Down, n.Least.Milliseconds(), n.Most.Milliseconds())
}

// Power is the console's report on the battery and the charger: `power display`. A field that
// is not reported is "".
type Power struct {
	AC       string // "online", "offline"
	Status   string // "Unknown", "Charging", "Discharging", "Not charging", "Full"
	Health   string
	Present  string // "true", "false"
	Capacity string // in percent
}

// Power returns the state of battery and charger.
func (c *Console) Power(ctx context.Context) (Power, error) {
	text, err := c.Do(ctx, "power display")
	if err != nil {
		return Power{}, err
	}
	said := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		said[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return Power{AC: said["AC"], Status: said["status"], Health: said["health"], Present: said["present"], Capacity: said["capacity"]}, nil
}

// SetCapacity sets the battery's level, in percent, and verifies that the console reports it.
func (c *Console) SetCapacity(ctx context.Context, percent int) error {
	if percent < 0 || percent > 100 {
		return fmt.Errorf("set the emulator's battery to %d %%: want 0 to 100", percent)
	}
	if _, err := c.Do(ctx, fmt.Sprintf("power capacity %d", percent)); err != nil {
		return err
	}
	now, err := c.Power(ctx)
	if err == nil && now.Capacity != strconv.Itoa(percent) {
		err = fmt.Errorf("the emulator's battery was set to %d %%, but its console reports %s", percent, quoted(now.Capacity))
	}
	return err
}

// SetCharger plugs the charger in or out, and makes the battery charge or discharge
// accordingly: the console does not change either of them with the other.
func (c *Console) SetCharger(ctx context.Context, plugged bool) error {
	ac, status := "off", "discharging"
	if plugged {
		ac, status = "on", "charging"
	}
	for _, command := range []string{"power ac " + ac, "power status " + status} {
		if _, err := c.Do(ctx, command); err != nil {
			return err
		}
	}
	return nil
}

// Name returns the name of the virtual device.
func (c *Console) Name(ctx context.Context) (string, error) {
	text, err := c.Do(ctx, "avd name")
	return strings.TrimSpace(text), err
}

// Kill stops the emulator, and returns once the console has confirmed it or has hung up: an
// emulator exits without closing its connections. The process needs some more seconds.
func (c *Console) Kill(ctx context.Context) error {
	_, err := c.Do(ctx, "kill")
	if ctx.Err() == nil && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)) {
		return nil
	}
	return err
}
