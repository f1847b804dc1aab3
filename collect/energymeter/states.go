package energymeter

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/energy/model"
	"github.com/apkgate/apkgate/trace/powerprofile"
)

// ModelOf returns the model of a power profile and the battery's capacity in mAh that it states; of
// the reference phone if no file is named.
func ModelOf(path string) (model.Model, float64, error) {
	if path == "" {
		capacity, _ := model.ReferenceProfile().Value(batteryCapacity)
		return model.Reference(), capacity, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return model.Model{}, 0, fmt.Errorf("open the power profile: %w", err)
	}
	defer func() { _ = file.Close() }()
	p, err := powerprofile.Read(file)
	if err != nil {
		return model.Model{}, 0, fmt.Errorf("read the power profile %s: %w", path, err)
	}
	made, err := model.New(p)
	if err != nil {
		return model.Model{}, 0, fmt.Errorf("make a model of the power profile %s: %w", path, err)
	}
	capacity, _ := p.Value(batteryCapacity)
	return made, capacity, nil
}

// batteryCapacity is the item of a power profile with the capacity.
const batteryCapacity = "battery.capacity"

// policy is a group of CPUs that share a frequency.
type policy struct {
	times string // the file with the time at each frequency
	cpus  []int
}

const (
	cpuFolder = "/sys/devices/system/cpu/"
	maxCPUs   = 1024
)

var policyName = regexp.MustCompile(`^policy\d{1,4}$`)

// findPolicies finds the CPUs' clusters: a folder each since Linux 4.3, below the folder of each
// CPU before.
func (m *Meter) findPolicies(ctx context.Context) error {
	names, err := m.t.Output(ctx, "ls", cpuFolder+"cpufreq")
	if err != nil {
		return fmt.Errorf("look for the CPU's frequencies: %w", err)
	}
	var folders []string
	for name := range strings.FieldsSeq(names) {
		if policyName.MatchString(name) && len(folders) < maxCPUs {
			folders = append(folders, cpuFolder+"cpufreq/"+name+"/")
		}
	}
	if len(folders) == 0 {
		stat, err := m.t.Output(ctx, "cat", "/proc/stat")
		if err != nil {
			return fmt.Errorf("look for the CPUs: %w", err)
		}
		for _, cpu := range slices.Sorted(maps.Keys(busyOf([]byte(stat)))) {
			folders = append(folders, cpuFolder+"cpu"+strconv.Itoa(cpu)+"/cpufreq/")
		}
	}
	seen := map[int]bool{}
	for _, folder := range folders {
		text, err := m.t.Output(ctx, "cat", folder+"related_cpus")
		if err != nil {
			return fmt.Errorf("read which CPUs share a frequency: %w", err)
		}
		p := policy{times: folder + "stats/time_in_state"}
		for word := range strings.FieldsSeq(text) {
			if n, err := strconv.Atoi(word); err == nil && n >= 0 && n < maxCPUs && !seen[n] {
				seen[n] = true
				p.cpus = append(p.cpus, n)
			}
		}
		if len(p.cpus) > 0 {
			m.policies = append(m.policies, p)
		}
	}
	slices.SortFunc(m.policies, func(a, b policy) int { return a.cpus[0] - b.cpus[0] })
	return nil
}

// Marks that separate the parts of one answer.
const (
	policyMark = "apkgate-policy"
	screenMark = "apkgate-screen"
)

// statesQuestion returns the command for what the model needs at an instant.
func (m *Meter) statesQuestion() string {
	line := "cat /proc/stat"
	for _, p := range m.policies {
		line += "; echo " + policyMark + "; cat " + p.times
	}
	return line + "; echo " + screenMark + "; dumpsys power | grep -E 'mWakefulness=|Display Power: state=|DUMP TIMEOUT'"
}

var cpuLine = regexp.MustCompile(`(?m)^cpu(\d{1,4}) ([\d ]+)`)

// busyOf returns each CPU's busy time in /proc/stat (proc(5)): user, nice, system, irq and softirq,
// the fields 1, 2, 3, 6 and 7.
func busyOf(stat []byte) map[int]time.Duration {
	out := map[int]time.Duration{}
	for _, m := range cpuLine.FindAllSubmatch(stat, maxCPUs) {
		cpu, _ := strconv.Atoi(string(m[1]))
		fields := strings.Fields(string(m[2]))
		sum := time.Duration(0)
		for _, i := range []int{0, 1, 2, 5, 6} {
			if i >= len(fields) {
				break
			}
			if n, err := strconv.ParseInt(fields[i], 10, target.TickBits); err == nil {
				sum += time.Duration(n) * target.Tick
			}
		}
		if cpu < maxCPUs {
			out[cpu] = sum
		}
	}
	return out
}

// timesOf parses time_in_state: lines of a frequency in kHz and ticks
// (Documentation/cpu-freq/cpufreq-stats). nil if there are none.
func timesOf(text []byte) map[int]time.Duration {
	const maxSpeeds = 1024
	var out map[int]time.Duration
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 2 || len(out) >= maxSpeeds {
			continue
		}
		khz, errK := strconv.ParseInt(fields[0], 10, 32)
		ticks, errT := strconv.ParseInt(fields[1], 10, target.TickBits)
		if errK != nil || errT != nil || khz <= 0 || ticks < 0 {
			continue
		}
		if out == nil {
			out = map[int]time.Duration{}
		}
		out[int(khz)] = time.Duration(ticks) * target.Tick
	}
	return out
}

// snapshotOf parses the answer to statesQuestion; false if it has nothing on the CPUs.
func (m *Meter) snapshotOf(at time.Duration, text []byte, app time.Duration, brightness float64) (model.Snapshot, bool) {
	rest, screen, _ := bytes.Cut(text, []byte(screenMark))
	parts := bytes.Split(rest, []byte(policyMark))
	busy := busyOf(parts[0])
	does, _ := device.ReadScreen(string(screen))
	s := model.Snapshot{
		Time: at, AppCPU: app, Brightness: brightness, Doze: does == device.ScreenDozes,
		ScreenOn: does == device.ScreenOn || does == device.ScreenNotReported, // as after set-up
	}
	if len(busy) == 0 {
		return s, false
	}
	if len(m.policies) == 0 {
		all := model.ClusterState{Cores: len(busy)}
		for _, t := range busy {
			all.Busy += t
		}
		s.Clusters = []model.ClusterState{all}
		return s, true
	}
	for i, p := range m.policies {
		cluster := model.ClusterState{Cores: len(p.cpus)}
		for _, cpu := range p.cpus {
			cluster.Busy += busy[cpu]
		}
		if i+1 < len(parts) {
			cluster.AtSpeed = timesOf(parts[i+1])
		}
		s.Clusters = append(s.Clusters, cluster)
	}
	return s, true
}

// maxBrightness matches the top of the setting's scale if it is not Android's own.
var maxBrightness = regexp.MustCompile(`mScreenBrightnessSettingMaximum=(\d{1,6})\b`)

// readBrightness returns the setting of the screen's brightness, 0 to 1. The setting goes up to
// 255; some makers' go up to 1023, 2047 or 4095, which Android 5 to 10 report. Later ones have the
// setting a second time, as a fraction.
func (m *Meter) readBrightness(ctx context.Context) (float64, error) {
	var texts []string
	for _, words := range [][]string{
		{"settings", "get", "system", "screen_brightness"},
		{"settings", "get", "system", "screen_brightness_float"},
		{"dumpsys", "power"},
	} {
		text, err := m.t.Output(ctx, words...)
		if err != nil {
			return 0, fmt.Errorf("read the screen's brightness: %w", err)
		}
		texts = append(texts, strings.TrimSpace(text))
	}
	scale := 255.0
	if m := maxBrightness.FindStringSubmatch(texts[2]); m != nil {
		top, _ := strconv.ParseFloat(m[1], 64)
		scale = max(scale, top)
	}
	for _, setting := range []struct {
		text string
		of   float64
	}{{texts[0], scale}, {texts[1], 1}} {
		if v, err := strconv.ParseFloat(setting.text, 64); err == nil && v >= 0 && v <= setting.of {
			return v / setting.of, nil
		}
	}
	m.t.Journal.Warnf("the screen's brightness is set to %q, on an unknown scale: it is assumed to be half", journal.Line(texts[0]))
	return 0.5, nil
}
