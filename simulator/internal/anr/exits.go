package anr

import (
	"cmp"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/shell"
)

// Exit is the end of a process (ApplicationExitInfo).
type Exit struct {
	Package  string
	PID, UID int
	At       time.Duration
	Reason   Reason
	Text     string // its description
	Traces   string // the file of stacks that was written before it ended, "" for none
}

// Reason is the reason of a process's exit.
type Reason struct {
	Code    int
	Name    string
	Sub     int
	SubName string
	Status  int
}

// The reasons for which processes of simulated apps end.
var (
	Crashed = Reason{Code: 4, Name: "APP CRASH(EXCEPTION)", SubName: "UNKNOWN"}
	Killed  = Reason{Code: 2, Name: "SIGNALED", SubName: "UNKNOWN", Status: 9}
	Stopped = Reason{Code: 10, Name: "USER REQUESTED", Sub: 21, SubName: "FORCE STOP"}
)

// maxExits is how many exits are kept for a package (config_app_exit_info_history_list_size).
const maxExits = 16

// Exited records the exit of a process.
func (b *Book) Exited(e Exit) {
	b.exits = append(b.exits, e)
	kept, of := b.exits[:0], 0
	for _, one := range b.exits {
		if one.Package == e.Package {
			of++
		}
	}
	for _, one := range b.exits {
		if one.Package == e.Package && of > maxExits {
			of--
			continue
		}
		kept = append(kept, one)
	}
	b.exits = kept
}

// DumpExits is dumpsys activity exit-info [PACKAGE], since Android 11
// (AppExitInfoTracker.dumpHistoryProcessExitInfo): newest first.
func (b *Book) DumpExits(c *shell.Call, pkg string) int {
	const layout = "2006-01-02 15:04:05.000"
	c.Printf("ACTIVITY MANAGER PROCESS EXIT INFO (dumpsys activity exit-info)\nLast Timestamp of Persistence Into Persistent Storage: %s\n", clock.Wall(0).Format(layout))
	for at, e := range b.exits {
		if first := b.firstOf(e.Package); first != at || pkg != "" && e.Package != pkg {
			continue
		}
		c.Printf("  package: %s\n    Historical Process Exit for uid=%d\n", e.Package, e.UID)
		n := 0
		for i := len(b.exits) - 1; i >= 0; i-- {
			if one := b.exits[i]; one.Package == e.Package {
				c.Printf("        ApplicationExitInfo #%d:\n          timestamp=%s pid=%d realUid=%d packageUid=%d definingUid=%d user=0\n          process=%s %s status=%d\n          importance=100 pss=0.00 rss=0.00 description=%s state=empty trace=%s\n",
					n, clock.Wall(one.At).Format(layout), one.PID, one.UID, one.UID, one.UID, one.Package, one.Reason.text(), one.Reason.Status, cmp.Or(one.Text, "null"), one.trace())
				n++
			}
		}
	}
	return 0
}

// firstOf returns the index of a package's oldest exit.
func (b *Book) firstOf(pkg string) int {
	for i, one := range b.exits {
		if one.Package == pkg {
			return i
		}
	}
	return -1
}

func (r Reason) text() string {
	return fmt.Sprintf("reason=%d (%s) subreason=%d (%s)", r.Code, r.Name, r.Sub, r.SubName)
}

// trace returns where the stacks are kept, readable for the system only.
func (e Exit) trace() string {
	if e.Traces == "" {
		return "null"
	}
	return "/data/system/procexitstore/" + e.Traces[len("/data/anr/"):] + ".gz"
}
