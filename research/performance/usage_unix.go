//go:build unix

package performance

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// processTime returns the processor time of this process so far.
func processTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakOf returns the peak memory in bytes of a process that ended (getrusage(2)).
func peakOf(p *os.ProcessState) (peak float64, known bool) {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return float64(u.Maxrss), true
	}
	return float64(u.Maxrss) * 1024, true
}
