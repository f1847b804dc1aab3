package simulator

import (
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/phone"
	"github.com/apkgate/apkgate/simulator/internal/shell"
	"github.com/apkgate/apkgate/simulator/internal/system"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/simulator/profile"
)

// What a simulated phone is asked for and says of itself, beyond what it prints.
type (
	// Phone is the phone behind the daemon. Tests change and break it, and compare what was
	// measured with the truth.
	Phone = phone.Phone
	// Options of a simulated device. See phone.Options.
	Options = phone.Options
	// Boot is how the phone starts. See system.Boot.
	Boot = system.Boot
	// Asked counts what the phone was asked. See shell.Asked.
	Asked = shell.Asked
	// Frame is one frame that the phone showed. See timeline.Frame.
	Frame = timeline.Frame
)

// WholeFrame is the kind of a frame that the app drew whole.
const WholeFrame = timeline.Whole

// NewPhone is a phone without a daemon, whose shell is called directly.
func NewPhone(p profile.Profile, seed uint64, o Options) *Phone { return phone.New(p, seed, o) }

// BootedAt is CLOCK_REALTIME when a phone's CLOCK_MONOTONIC is 0.
func BootedAt() time.Time { return clock.Wall(0) }
