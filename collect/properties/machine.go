package properties

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/internal/prose"
)

// cpuFolder is the kernel's folder of CPUs.
const cpuFolder = "/sys/devices/system/cpu/"

// maxCPUs limits for how many CPUs the highest clock is read.
const maxCPUs = 16

// fastest returns the files with the highest clock of each CPU, in kHz. Each CPU has its own on any
// kernel, since 4.3 as a link into its cluster's.
func fastest() string {
	var files []string
	for cpu := range maxCPUs {
		files = append(files, fmt.Sprintf("%scpu%d/cpufreq/cpuinfo_max_freq", cpuFolder, cpu))
	}
	return strings.Join(files, " ")
}

// gles matches the line of SurfaceFlinger's RenderEngine with vendor, renderer and version. The
// first two may contain commas.
var (
	gles       = regexp.MustCompile(`GLES: (.{1,400}), OpenGL ES`)
	translator = regexp.MustCompile(`Translator \((.+)\)$`)
)

// softwareRenderers render on the CPU. Their versions reveal nothing about speed that updates of
// the emulator don't reveal too.
var softwareRenderers = []string{"swiftshader", "llvmpipe", "lavapipe", "softpipe"}

// renderer reads the renderer. An emulator names its translator, and in brackets its host's
// renderer; if SurfaceFlinger does not report it, the library does (ro.hardware.egl).
func (r *reader) renderer(text string) {
	m := gles.FindStringSubmatch(text)
	if m == nil {
		r.Properties[devctx.GPU] = software(r.facts.Properties["ro.hardware.egl"])
		return
	}
	said := m[1]
	if behind := translator.FindStringSubmatch(said); behind != nil {
		said = behind[1]
	} else if _, name, two := strings.Cut(said, ", "); two && software(said) == said {
		said = name
	}
	const most = 80
	r.Properties[devctx.GPU] = prose.Clip(software(said), most)
}

// software returns a software renderer without its version, and others unchanged.
func software(renderer string) string {
	for _, name := range softwareRenderers {
		if strings.Contains(strings.ToLower(renderer), name) {
			return name
		}
	}
	return renderer
}

var memTotal = regexp.MustCompile(`(?m)^MemTotal:\s+(\d{1,12}) kB`)

// sizes are those in which memory is sold, in MiB. The kernel reserves some of it, another amount
// in each build.
var sizes = []int{256, 512, 768, 1 << 10, 1536, 2 << 10, 3 << 10, 4 << 10, 6 << 10, 8 << 10, 10 << 10, 12 << 10, 16 << 10, 18 << 10, 24 << 10, 32 << 10, 48 << 10, 64 << 10}

// memory sets the memory to the size in which it was sold, the next one above what the kernel
// reports.
func (r *reader) memory(text string) {
	m := memTotal.FindStringSubmatch(text)
	if m == nil {
		return
	}
	kb, err := strconv.Atoi(m[1])
	if err != nil {
		return
	}
	at, _ := slices.BinarySearch(sizes, (kb+1023)/1024)
	if kb == 0 || at == len(sizes) {
		return
	}
	r.Properties[devctx.RAM] = strconv.FormatFloat(float64(sizes[at])/1024, 'f', -1, 64) + " GB"
}

// cores counts the CPUs that are there, whether or not they are on: "0-7".
func (r *reader) cores(text string) {
	if n := countList(strings.TrimSpace(text)); n > 0 {
		r.Properties[devctx.Cores] = strconv.Itoa(n)
	}
}

// countList counts the items of a kernel's list, "0-3,6"; 0 for none.
func countList(list string) (n int) {
	const most = 1024
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, err := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || a < 0 || b < a || b >= most {
			return 0
		}
		n += b - a + 1
	}
	return n
}

// clocks sets the highest clocks of the cores, the slowest first: "4x1800 4x2850".
func (r *reader) clocks(text string) {
	count := map[int]int{}
	for line := range strings.Lines(text) {
		if khz, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && khz > 0 {
			count[(khz+500)/1000]++
		}
	}
	var said []string
	for mhz, n := range count {
		said = append(said, fmt.Sprintf("%dx%d", n, mhz))
	}
	slices.SortFunc(said, func(a, b string) int { return clockOf(a) - clockOf(b) })
	r.Properties[devctx.CPUMHz] = strings.Join(said, " ")
}

func clockOf(said string) int {
	_, mhz, _ := strings.Cut(said, "x")
	n, _ := strconv.Atoi(mhz)
	return n
}

var modelName = regexp.MustCompile(`(?m)^model name\s*:\s*(.{1,100})$`)

// host describes this computer, on which an emulator runs: its CPU, if Linux reports it, and how
// many of its cores this process may use.
func host() string {
	cpu := runtime.GOOS + " " + runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if m := modelName.FindSubmatch(text); m != nil {
			cpu = strings.TrimSpace(string(m[1]))
		}
	}
	return cpu + ", " + prose.Count(runtime.NumCPU(), "core", "cores")
}
