package system

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/shell"
)

// unknown is the answer of a service's shell command to an unknown verb
// (BasicShellCommandHandler.handleDefaultCommands): the status is -1, of which one byte
// arrives.
func unknown(c *shell.Call, verb string) int {
	c.Printf("Unknown command: %s\n", verb)
	return 255
}

// NoPerformance is Android's message if the Power HAL has no fixed performance mode.
const NoPerformance = "Failed to set FIXED_PERFORMANCE mode\nThis is likely because Power HAL AIDL is not implemented on this device\n"

// PowerCommand is cmd power (PowerManagerShellCommand, since Android 10), whose first word is
// the verb.
func (s *System) PowerCommand(c *shell.Call) int {
	switch verb := c.Arg(0); {
	case s.API < 29:
		c.Errorf("No shell command implementation.\n")
		return 0
	case verb != "set-fixed-performance-mode-enabled" || s.API < 30:
		return unknown(c, verb)
	case !s.Performance && !s.Emulator: // PowerManagerService.setPowerModeChecked: the HAL refuses
		c.Errorf("%s", NoPerformance)
		return 255
	}
	// An emulator has the example Power HAL, which accepts every mode and does nothing.
	s.Fixed = s.Performance && c.Arg(1) == "true" // Boolean.parseBoolean
	return 0
}

// The background compilation job: its id in the job scheduler, and how long it keeps the CPUs
// busy.
const (
	dexoptJob   = "27873780" // BackgroundDexoptJob.JOB_ID, since Android 14
	dexoptTakes = 40 * time.Second
)

// DexoptJob is pm bg-dexopt-job: since Android 14 that of ART Service (ArtShellCommand,
// handleBgDexoptJob); before, it takes any arguments as package names
// (PackageManagerShellCommand.runDexoptJob), and starts.
func (s *System) DexoptJob(c *shell.Call, then func(code int)) {
	flag := c.Arg(0)
	if s.API < 34 {
		flag = ""
	}
	switch flag {
	case "":
		s.working = s.Clock.Now() + dexoptTakes
		s.Clock.Spend(dexoptTakes, func() {
			c.Printf("Success\n")
			then(0)
		})
		return
	case "--disable":
		s.dexoptOff = true
		c.Printf("Background dexopt job disabled\n")
	case "--enable":
		s.dexoptOff = false
		c.Printf("Background dexopt job enabled\n")
	case "--cancel":
		s.working = 0
		c.Printf("Background dexopt job cancelled\n")
	default:
		c.Printf("Error: Unknown option: %s\n", flag)
		then(1)
		return
	}
	then(0)
}

// DexoptOff reports whether the job scheduler's background compilation is disabled.
func (s *System) DexoptOff() bool { return s.dexoptOff }

// JobCommand is cmd jobscheduler get-job-state PACKAGE JOB (JobSchedulerShellCommand, since
// Android 8); the phone's only job is the background compilation.
func (s *System) JobCommand(c *shell.Call) int {
	if c.Arg(0) != "get-job-state" {
		return unknown(c, c.Arg(0))
	}
	if s.API < 34 || c.Arg(1) != "android" || c.Arg(2) != dexoptJob || s.dexoptOff {
		c.Printf("unknown(1000/jid%s)\n", c.Arg(2))
		const noJob = -1001 // CMD_ERR_NO_JOB
		return noJob & 0xff
	}
	c.Printf("waiting\n")
	return 0
}

// ServiceCommand is service check NAME (frameworks/native/cmds/service).
func (s *System) ServiceCommand(c *shell.Call, there func(name string) bool) int {
	if c.Arg(0) != "check" || c.Arg(1) == "" {
		c.Printf("Usage: service [-h|-?]\n       service list\n       service check SERVICE\n")
		return 10
	}
	found := "not found"
	if s.Serves() && there(c.Arg(1)) {
		found = "found"
	}
	c.Printf("Service %s: %s\n", c.Arg(1), found)
	return 0
}

// Unserved prints that a program's service is not available yet, and returns the exit code:
// native programs use cmd's message, Java ones their own.
func Unserved(c *shell.Call, program, service string, native bool) int {
	switch {
	case native:
		c.Errorf("cmd: Can't find service: %s\n", service)
		return 20
	case program == "dumpsys":
		c.Errorf("Can't find service: %s\n", service)
		return 0
	case program == "pm":
		c.Errorf("Error: Could not access the Package Manager.  Is the system running?\n")
	default:
		c.Errorf("%s\n", fmt.Sprintf("Error type 2\nandroid.util.AndroidException: Can't connect to %s manager; is the system running?", service))
	}
	return 1
}
