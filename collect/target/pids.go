package target

import "github.com/apkgate/apkgate/device"

// How much of an app's name its process bears, in bytes: as much as zygote's command
// line has room for, some 75 on phones of today. A shorter name is there whole.
const (
	leastBorne = 70
	mostBorne  = 100
)

// PIDs is the command that prints the pids of an app's process, one for each user that
// runs it: of all names that it may bear. It fails where there is none.
func PIDs(app string) string {
	names := []string{"pidof", app}
	for n := leastBorne; n <= mostBorne && n < len(app); n++ {
		names = append(names, app[:n])
	}
	return device.Quote(names...)
}
