// Package system simulates Android's own activities on a phone, apart from its apps: the boot,
// the dialogs that cover everything, the background compilation job, and the fixed performance
// mode.
//
// It follows the sources that it names. The phone computes the effects on apps. It has no
// lock: the phone's lock is held around all of its methods.
package system

import (
	"math"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
)

// Boot configures how a phone boots. The zero value is a phone that booted long ago.
type Boot struct {
	// Takes is how long it takes until sys.boot_completed is 1.
	Takes time.Duration
	// Silent is how long adb's port accepts connections without answering, after the phone was
	// created, as while an emulator's kernel boots.
	Silent time.Duration
	// Never keeps sys.boot_completed from becoming 1, although adb's port answers.
	Never bool
	// Services is how long after that the system's services do not answer: "cmd: Can't find
	// service: package".
	Services time.Duration
	// Busy is how long after that all CPUs are busy.
	Busy time.Duration
	// ANR makes System UI stop responding: once the services answer, its dialog covers
	// everything until one of its buttons is pressed.
	ANR bool
}

// Phone is the phone that the system belongs to.
type Phone struct {
	API           int
	Clock         *clock.Queue
	Boot          Boot
	Emulator      bool
	Performance   bool // its Power HAL supports the fixed performance mode
	Width, Height int  // of the screen, in pixels
	// Kill ends a process, which restarts if it is the system's.
	Kill func(process string)
}

// System is the system of one phone.
type System struct {
	Phone
	// Fixed reports that the clocks are fixed.
	Fixed bool

	begun     time.Duration // when the phone was created or restarted
	dexoptOff bool
	working   time.Duration // until when a job keeps the CPUs busy
	dialogs   []Dialog      // the last is in front
}

// New returns the system of a phone that starts now.
func New(p Phone) *System {
	s := &System{Phone: p}
	s.start()
	return s
}

// Restart restarts the phone, which takes the given time; all settings are lost.
func (s *System) Restart(takes time.Duration) {
	boot := s.Boot
	boot.Takes = max(takes, boot.Takes)
	s.Boot, s.Fixed, s.dexoptOff, s.dialogs, s.working = boot, false, false, nil, 0
	s.start()
}

// RestartServices restarts the system process, which takes the given time: the kernel and
// sys.boot_completed are not affected.
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

// Completed reports whether sys.boot_completed is 1.
func (s *System) Completed() bool { return s.Clock.Now() >= s.completes() }

// Serves reports whether the system's services answer.
func (s *System) Serves() bool { return s.Clock.Now() >= s.serves() }

// Property returns the value of a property that depends on the boot; does is false for others.
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

// Busy reports whether the CPUs are busy with something other than apps.
func (s *System) Busy() bool {
	now := s.Clock.Now()
	return !s.Serves() || now-s.serves() < s.Boot.Busy || now < s.working
}

// share is the share of a CPU that booting takes.
const share = 0.9

// Worked returns how long each CPU was busy with booting.
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
