// Package system is what Android does by itself on a simulated phone, beside its apps: how
// far its start is, the dialogs that it shows over whatever is in front, the job that
// compiles apps while nobody looks, and the mode in which the clocks are held.
//
// It does and prints what the sources say that it names. What any of it costs an app is
// for the phone to work out. It has no lock: the phone's is held around all of it.
package system

import (
	"math"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
)

// Boot is how a phone starts. The zero value is a phone that has started long ago.
type Boot struct {
	// Takes is how long it is until sys.boot_completed says 1.
	Takes time.Duration
	// Silent is how long adb's port takes connections and answers nothing, once the phone
	// is made, as while an emulator's kernel starts.
	Silent time.Duration
	// Never has sys.boot_completed never say 1, though adb's port answers.
	Never bool
	// Services is how long from then on nothing answers that is asked of the system's
	// services: "cmd: Can't find service: package".
	Services time.Duration
	// Busy is how long from then on all CPUs have something else to do.
	Busy time.Duration
	// ANR has System UI not respond: once the services answer, its dialog stands before
	// whatever is opened, until somebody presses a button of it.
	ANR bool
}

// Phone is whose system it is.
type Phone struct {
	API           int
	Clock         *clock.Queue
	Boot          Boot
	Emulator      bool
	Performance   bool // its Power HAL has the fixed performance mode
	Width, Height int  // of the screen, in pixels
	// Kill ends a process, which comes back if it is the system's.
	Kill func(process string)
}

// System is the system of one phone.
type System struct {
	Phone
	// Fixed says that the clocks are held.
	Fixed bool

	begun     time.Duration // when the phone was made or restarted
	dexoptOff bool
	working   time.Duration // until when a job keeps the CPUs busy
	dialogs   []Dialog      // the last is in front
}

// New is the system of a phone that starts now.
func New(p Phone) *System {
	s := &System{Phone: p}
	s.start()
	return s
}

// Restart is a restart of the phone that takes so long; nothing of what was set lasts.
func (s *System) Restart(takes time.Duration) {
	boot := s.Boot
	boot.Takes = max(takes, boot.Takes)
	s.Boot, s.Fixed, s.dexoptOff, s.dialogs, s.working = boot, false, false, nil, 0
	s.start()
}

// RestartServices is a restart of the system's own process, which takes so long: the
// kernel and sys.boot_completed stay as they are.
func (s *System) RestartServices(takes time.Duration) {
	s.Boot = Boot{Services: takes}
	s.Fixed, s.dexoptOff, s.dialogs, s.working = false, false, nil, 0
	s.start()
}

func (s *System) start() {
	s.begun = s.Clock.Now()
	if s.Boot.ANR {
		began := s.begun
		s.Clock.At(s.serves(), func() {
			if s.begun == began {
				s.Show("com.android.systemui", false)
			}
		})
	}
}

func (s *System) completes() time.Duration {
	if s.Boot.Never {
		return math.MaxInt64
	}
	return s.begun + s.Boot.Takes
}

func (s *System) serves() time.Duration {
	if s.Boot.Never {
		return math.MaxInt64
	}
	return s.completes() + s.Boot.Services
}

// Completed reports whether sys.boot_completed says 1.
func (s *System) Completed() bool { return s.Clock.Now() >= s.completes() }

// Serves reports whether the system's services answer.
func (s *System) Serves() bool { return s.Clock.Now() >= s.serves() }

// Property is what the phone's start makes of a property, and whether it does.
func (s *System) Property(name string) (value string, does bool) {
	switch {
	case s.Completed():
		return "", false
	case name == "sys.boot_completed", name == "dev.bootcomplete":
		return "", true
	case name == "init.svc.bootanim":
		return "running", true
	}
	return "", false
}

// Busy reports whether the CPUs have something else to do than apps.
func (s *System) Busy() bool {
	now := s.Clock.Now()
	return !s.Serves() || now-s.serves() < s.Boot.Busy || now < s.working
}

// share of a CPU that the start takes.
const share = 0.9

// Worked is for how long each CPU was busy with the phone's start.
func (s *System) Worked() time.Duration {
	if s.Boot.Busy == 0 {
		return 0
	}
	long := s.Clock.Now() - s.begun
	if s.Serves() {
		long = min(long, s.serves()+s.Boot.Busy-s.begun)
	}
	return time.Duration(share * float64(long))
}
