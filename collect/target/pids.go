package target

import "github.com/apkgate/apkgate/device"

// How much of an app's name its process has, in bytes: as much as zygote's command line has room
// for, some 75 on today's phones. A shorter name is complete.
const (
	leastBorne = 70
	mostBorne  = 100
)

// PIDs returns the command that prints the pids of an app's process, one for each user that runs
// it, under all names that it may have. It fails if there is none.
func PIDs(app string) string {
	names := []string{"pidof", app}
	for n := leastBorne; n <= mostBorne && n < len(app); n++ {
		names = append(names, app[:n])
	}
	return device.Quote(names...)
}
