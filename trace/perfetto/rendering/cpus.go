package rendering

import (
	"cmp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

const (
	maxCPUs        = packets.MaxCPUs
	maxFrequencies = 200_000 // changes of one CPU kept at one time
)

// frequencies is a CPU's frequency over time.
type frequencies struct {
	changes []change
	most    int64 // kHz, of all seen
}

type change struct {
	at  time.Duration
	khz int64
}

// set records the frequency of a CPU from a time on.
func (r *reader) set(at time.Duration, cpu int64, khz int64) {
	const most = 100_000_000 // kHz, beyond any CPU
	if cpu < 0 || cpu >= maxCPUs || khz <= 0 || khz > most {
		return
	}
	for len(r.clocks) <= int(cpu) {
		r.clocks = append(r.clocks, frequencies{})
	}
	one := &r.clocks[cpu]
	one.most = max(one.most, khz)
	if r.file.Room("frequencies of CPUs", len(one.changes), maxFrequencies) {
		one.changes = append(one.changes, change{at, khz})
	}
}

// frequency reads a CpuFrequencyFtraceEvent.
func (r *reader) frequency(e *packets.Event) {
	m := messages.CPUFrequencyOf(e.Data)
	r.set(e.At, int64(m.CPUID), int64(m.State))
}

// forget drops the changes before a time, except the last of them.
func (f *frequencies) forget(before time.Duration) {
	i, _ := slices.BinarySearchFunc(f.changes, before, func(c change, t time.Duration) int { return cmp.Compare(c.at, t) })
	f.changes = slices.Delete(f.changes, 0, max(i-1, 0))
}

// mean returns the mean frequency of a CPU between two times, 0 if unknown.
func (h *history) mean(cpu int16, from, to time.Duration) int64 {
	if cpu < 0 || int(cpu) >= len(h.clocks) || to <= from {
		return 0
	}
	list := h.clocks[cpu].changes
	i, _ := slices.BinarySearchFunc(list, from+1, func(c change, t time.Duration) int { return cmp.Compare(c.at, t) })
	sum, known := 0.0, time.Duration(0)
	for i = max(i-1, 0); i < len(list) && list[i].at < to; i++ {
		end := to
		if i+1 < len(list) {
			end = min(end, list[i+1].at)
		}
		took := end - max(list[i].at, from)
		sum, known = sum+float64(list[i].khz)*float64(took), known+took
	}
	if known == 0 {
		return 0
	}
	return int64(sum / float64(known))
}

// clusters groups CPUs by their highest frequency, the slowest first. CPUs of one frequency domain
// report every change alike (cpufreq_notify_transition of the kernel's drivers/cpufreq/cpufreq.c).
func (r *reader) clusters() []Cluster {
	var out []Cluster
	for cpu := range r.clocks {
		khz := max(r.clocks[cpu].most, r.possible[cpu])
		if khz == 0 {
			continue
		}
		at := slices.IndexFunc(out, func(c Cluster) bool { return c.MaxKHz == khz })
		if at < 0 {
			at = len(out)
			out = append(out, Cluster{MaxKHz: khz})
		}
		out[at].CPUs = append(out[at].CPUs, cpu)
	}
	slices.SortFunc(out, func(a, b Cluster) int { return cmp.Compare(a.MaxKHz, b.MaxKHz) })
	return out
}

// use is how a frame used each CPU, until the clusters are known.
type use []coreUse

type coreUse struct {
	path  float32 // ns that the path ran there
	cycle float32 // ns × kHz for which the frequency is known
	known float32 // ns for which the frequency is known
	busy  float32 // ns that anything ran there
	cpu   int16
}

// maxUsed limits the CPUs of one frame: phones have 8, laptops 16.
const maxUsed = 32

// of returns the use of a CPU, nil if there are too many.
func (u *use) of(cpu int16) *coreUse {
	i := slices.IndexFunc(*u, func(one coreUse) bool { return one.cpu == cpu })
	if i < 0 {
		if i = len(*u); i >= maxUsed {
			return nil
		}
		*u = append(*u, coreUse{cpu: cpu})
	}
	return &(*u)[i]
}

// ran adds a period in which the path ran on a CPU.
func (u *use) ran(cpu int16, took time.Duration, khz int32) {
	if cpu < 0 || int(cpu) >= maxCPUs {
		return
	}
	one := u.of(cpu)
	if one == nil {
		return
	}
	one.path += float32(took)
	if khz > 0 {
		one.cycle += float32(khz) * float32(took)
		one.known += float32(took)
	}
}

// occupied adds how long each CPU ran anything between two times.
func (u *use) occupied(h *history, cpus int, from, to time.Duration) {
	*h.work += cpus
	for cpu := range cpus {
		var busy time.Duration
		h.turns(int32(cpu), from, to, func(_ int32, took time.Duration) { busy += took })
		if busy == 0 {
			continue
		}
		if one := u.of(int16(cpu)); one != nil {
			one.busy = float32(busy)
		}
	}
}

// cores returns the facts of a frame that took so long. Whether CPUs were busy is known if their
// turns are.
func (u use) cores(clusters []Cluster, took time.Duration, turns bool) Cores {
	c := Cores{Little: -1, LittleBusy: -1, BigBusy: -1, Frequency: -1}
	var path, little, at, known, most float64
	for _, one := range u {
		path += float64(one.path)
	}
	for i, cluster := range clusters {
		var busy float64
		for _, one := range u {
			if !slices.Contains(cluster.CPUs, int(one.cpu)) {
				continue
			}
			if i == 0 {
				little += float64(one.path)
			}
			known += float64(one.known)
			at += float64(one.cycle)
			most += float64(one.known) * float64(cluster.MaxKHz)
			busy += float64(one.busy)
		}
		if len(clusters) > 1 && took > 0 && turns {
			c.add(i, busy/float64(took), len(cluster.CPUs), clusters)
		}
	}
	if path > 0 && len(clusters) > 1 {
		c.Little = little / path
	}
	if known > 0 {
		c.Frequency = at / most
	}
	return c
}

// add adds the time that a cluster was busy, in CPUs, to the share of the little or the big ones.
func (c *Cores) add(i int, busy float64, cpus int, clusters []Cluster) {
	if i == 0 {
		c.LittleBusy = busy / float64(cpus)
		return
	}
	big := 0
	for _, other := range clusters[1:] {
		big += len(other.CPUs)
	}
	c.BigBusy = max(c.BigBusy, 0) + busy/float64(big)
}
