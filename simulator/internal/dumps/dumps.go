// Package dumps prints what services of a simulated phone say of its power: the
// battery, its statistics and the sensors by dumpsys, and files of /proc and /sys; and
// bug reports, as little as there is of them.
//
// It prints views of the phone's books (package account), rounded and in the words of
// the phone's Android version; it works nothing out. What services say of apps and
// windows is printed where apps live, in package phone.
package dumps

import (
	"github.com/apkgate/apkgate/simulator/internal/account"
	"github.com/apkgate/apkgate/simulator/internal/shell"
)

// call is a command that asks for a dump.
type call struct {
	*account.Account
	*shell.Call
}
