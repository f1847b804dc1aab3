package powerprofile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/trace"
)

// Layout is how a profile states the CPU's currents.
type Layout string

// The layouts, oldest first.
const (
	NoCPU    Layout = ""
	Single   Layout = "single"   // cpu.speeds and cpu.active: one cluster, the whole CPU's current
	Clusters Layout = "clusters" // cpu.speeds.clusterN and cpu.active.clusterN: since Android 5
	// CorePower is cpu.core_speeds.clusterN and cpu.core_power.clusterN, beside
	// cpu.cluster_power.clusterN: since Android 9.
	CorePower Layout = "core-power"
	Scaling   Layout = "scaling" // cpu.scaling_step_power.policyN: since Android 15
)

// Cluster is a group of CPU cores that share one speed.
type Cluster struct {
	Index int `json:"index"`
	Cores int `json:"cores,omitempty"` // 0 if not stated
	// SpeedsKHz lists the speeds, PowerMA the current at each.
	SpeedsKHz []float64 `json:"speeds_khz"`
	PowerMA   []float64 `json:"power_ma"`
	// ClusterMA is the current of the cluster while any core of it runs.
	ClusterMA *float64 `json:"cluster_ma,omitempty"`
}

// Policy is a scaling policy of Android 15: its speeds are on the device, not in the profile.
type Policy struct {
	Policy  int       `json:"policy"`
	PowerMA *float64  `json:"power_ma,omitempty"`
	StepMA  []float64 `json:"step_ma"` // at each speed
}

// maxClusters limits the clusters and the policies; a phone has up to four.
const maxClusters = 64

// setCPU finds the clusters among the items.
func (p *Profile) setCPU(warnings *trace.Warnings) {
	cores := p.Values("cpu.clusters.cores")
	for i := range maxClusters {
		c := Cluster{Index: i}
		suffix := ".cluster" + strconv.Itoa(i)
		layout := p.setSpeeds(&c, suffix)
		if i == 0 && layout == NoCPU {
			if layout = p.setSpeeds(&c, ""); layout == Clusters {
				layout = Single
			}
		}
		if i < len(cores) {
			c.Cores = int(min(cores[i], 1024))
		}
		if layout == NoCPU {
			continue
		}
		if v, ok := p.Value("cpu.cluster_power" + suffix); ok {
			c.ClusterMA = &v
		}
		if p.Layout == NoCPU {
			p.Layout = layout
		}
		p.CPU = append(p.CPU, c)
		if len(c.SpeedsKHz) != len(c.PowerMA) {
			warnings.Addf(0, "CPU cluster %d has %d speeds and %d currents: one of each is wanted", i, len(c.SpeedsKHz), len(c.PowerMA))
		}
	}
	if n := len(cores); n > 0 && len(p.CPU) > 0 && n != len(p.CPU) {
		warnings.Addf(0, "cpu.clusters.cores lists %d clusters, but %d have speeds", n, len(p.CPU))
	}
	p.setPolicies()
}

// setSpeeds reads the speeds and currents of one cluster, from the newer layout if both are
// present.
func (p *Profile) setSpeeds(c *Cluster, suffix string) Layout {
	for _, names := range []struct {
		speeds, power string
		layout        Layout
	}{
		{"cpu.core_speeds", "cpu.core_power", CorePower},
		{"cpu.speeds", "cpu.active", Clusters},
	} {
		if speeds := p.Values(names.speeds + suffix); speeds != nil {
			c.SpeedsKHz, c.PowerMA = speeds, p.Values(names.power+suffix)
			return names.layout
		}
	}
	return NoCPU
}

func (p *Profile) setPolicies() {
	const steps = "cpu.scaling_step_power.policy"
	for i := range p.Items {
		item := &p.Items[i]
		suffix, found := strings.CutPrefix(item.Name, steps)
		n, err := strconv.Atoi(suffix)
		if !found || !item.Array || err != nil || n < 0 || p.find(item.Name, true) != item || len(p.Policies) == maxClusters {
			continue
		}
		policy := Policy{Policy: n, StepMA: item.Values}
		if v, ok := p.Value(fmt.Sprintf("cpu.scaling_policy_power.policy%d", n)); ok {
			policy.PowerMA = &v
		}
		p.Policies = append(p.Policies, policy)
	}
	if len(p.Policies) > 0 {
		p.Layout = Scaling
	}
}
