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

// Types of a simulated phone that its users need beyond its output.
type (
	// Phone is the phone behind the daemon. Tests change and break it, and compare
	// measurements with its truth.
	Phone = phone.Phone
	// Options of a simulated device. See phone.Options.
	Options = phone.Options
	// Boot configures how the phone boots. See system.Boot.
	Boot = system.Boot
	// Asked counts the commands that the phone ran. See shell.Asked.
	Asked = shell.Asked
	// Frame is one frame that the phone showed. See timeline.Frame.
	Frame = timeline.Frame
)

// WholeFrame is the kind of a frame that the app drew completely.
const WholeFrame = timeline.Whole

// NewPhone returns a phone without a daemon, whose shell is called directly.
func NewPhone(p profile.Profile, seed uint64, o Options) *Phone { return phone.New(p, seed, o) }

// BootedAt returns CLOCK_REALTIME at the phone's CLOCK_MONOTONIC 0.
func BootedAt() time.Time { return clock.Wall(0) }
