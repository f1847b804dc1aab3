package dumps

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/simulator/internal/account"
	"github.com/apkgate/apkgate/simulator/internal/shell"
)

// memInfo is the beginning of /proc/meminfo. The kernel reserves some of the memory, so a
// phone of 2 GB shows less.
func memInfo(a *account.Account) string {
	gigabytes := 2.0
	switch {
	case a.Profile.Sensors.Emulator:
	case a.Profile.Speed < 1:
		gigabytes = 8
	case a.Profile.Speed > 1.2:
		gigabytes = 1
	}
	total := int(gigabytes * (1 << 20) * 0.945)
	return fmt.Sprintf("MemTotal:       %8d kB\nMemFree:        %8d kB\nMemAvailable:   %8d kB\nBuffers:           40612 kB\n",
		total, max(total*3/10-a.HeldKB, total/50), max(total*6/10-a.HeldKB, total/20))
}

// cpuInfo is /proc/cpuinfo, with the cores and, on x86, the host's CPU.
func cpuInfo(a *account.Account) string {
	var b strings.Builder
	for cpu := range a.Hardware.Little.Count + a.Hardware.Big.Count {
		fmt.Fprintf(&b, "processor\t: %d\n", cpu)
		if strings.HasPrefix(a.Profile.ABI, "x86") {
			b.WriteString("vendor_id\t: GenuineIntel\nmodel name\t: Android virtual processor\n")
		} else {
			b.WriteString("BogoMIPS\t: 38.40\nCPU implementer\t: 0x41\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// fastest returns the file with a CPU's highest frequency, which exists under the CPU's number
// for every kernel. An emulator's CPUs have a fixed frequency.
func fastest(a *account.Account, rest string) (string, bool) {
	var cpu int
	if n, err := fmt.Sscanf(rest, "cpu%d/cpufreq/cpuinfo_max_freq", &cpu); n != 1 || err != nil || a.Profile.Sensors.Emulator {
		return "", false
	}
	for _, c := range clusters(a) {
		if cpu >= c.First && cpu < c.First+c.Count && rest == fmt.Sprintf("cpu%d/cpufreq/cpuinfo_max_freq", cpu) {
			return fmt.Sprintf("%d\n", c.Steps[len(c.Steps)-1].KHz), true
		}
	}
	return "", false
}

// SurfaceFlinger prints the renderer in dumpsys SurfaceFlinger (RenderEngine::dump): an
// emulator prints its translator, with the actual renderer in brackets.
func SurfaceFlinger(a *account.Account, renderer string, c *shell.Call) int {
	gles := "Qualcomm, Adreno (TM) 640, OpenGL ES 3.2 V@415.0 (GIT@663be55, I724753c5e3, 1573037262) (Date:11/06/19)"
	if a.Profile.Sensors.Emulator {
		gles = "Google (Google Inc. (Google)), Android Emulator OpenGL ES Translator (" + renderer + "), OpenGL ES 3.1 (4.1 Metal - 83)"
	}
	c.Printf("Build configuration: [sf PRESENT_TIME_OFFSET=0]\n\nDisplay identification data:\n  (none)\n\n ------------RE GLES------------\nGLES: %s\n", gles)
	return 0
}
