// Package dumps prints the power-related services and files of a simulated phone: the battery,
// its statistics and the sensors in dumpsys, files of /proc and /sys, and minimal bug reports.
//
// It prints views of the phone's account (package account), rounded and in the form of the
// phone's Android version; it computes nothing. Dumps about apps and windows are printed by
// package phone, which owns the apps.
package dumps

import (
	"github.com/apkgate/apkgate/simulator/internal/account"
	"github.com/apkgate/apkgate/simulator/internal/shell"
)

// call is a command that prints a dump.
type call struct {
	*account.Account
	*shell.Call
}
