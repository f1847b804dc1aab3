package dumps

import (
	"strings"

	"github.com/apkgate/apkgate/simulator/internal/account"
)

// File returns a file of /proc, /sys or binderfs about CPUs, calls or the battery. The shell
// may not read the battery's since Android 8.
func File(a *account.Account, name string) (text string, ok bool) {
	if name == "/proc/stat" {
		return cpuStat(a), true
	}
	switch name {
	case "/proc/meminfo":
		return memInfo(a), true
	case "/proc/cpuinfo":
		return cpuInfo(a), true
	case transactionsFile(a.Profile.API):
		return transactions(a), true
	}
	if !strings.HasPrefix(name, "/sys/") {
		return "", false
	}
	if text, ok := policyFile(a, name); ok {
		return text, ok
	}
	if a.Profile.API >= 26 {
		return "", false
	}
	return supplyFile(a, name)
}
