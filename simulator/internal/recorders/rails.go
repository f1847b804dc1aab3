package recorders

import (
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/pftrace"
)

// rails are the phone's power monitors, read in order of time.
type rails struct {
	phone  *Phone
	at     time.Duration // the time of the counters
	joules power.Sum
	update time.Duration
	told   bool
}

// railParts are the rails, and the part that each supplies.
var railParts = []struct {
	name, subsystem string
	part            power.Part
}{
	{"S2M_VDD_CPUCL2", "cpu.big", power.Big},
	{"S4M_VDD_CPUCL0", "cpu.little", power.Little},
	{"S8S_VDD_G3D_L2", "gpu", power.GPU},
	{"VSYS_PWR_DISPLAY", "display", power.Screen},
	{"VSYS_PWR_WLAN_BT", "wifi.bt", power.Wifi},
	{"VSYS_PWR_MODEM", "cellular", power.Mobile},
	{"L9S_GNSS_CORE", "gps", power.GPS},
	{"VSYS_PWR_CAM", "camera", power.Camera},
	{"VSYS_PWR_AUDIO", "audio", power.Audio},
	{"S1M_VDD_MIF", "memory", power.Base},
	{"S3M_VDD_INT", "system", power.Awake},
}

// joinedRails are parts without a rail of their own.
var joinedRails = map[power.Part]power.Part{power.Bluetooth: power.Wifi, power.Torch: power.Camera, power.Sensors: power.Awake}

// newRails returns the monitors, nil if the phone has none.
func (p *Phone) newRails(begun time.Duration) *rails {
	update := p.Sensors.Rails
	if update == 0 {
		return nil
	}
	r := &rails{phone: p, at: begun.Truncate(update), update: update, joules: power.Sum{}}
	for i, part := range railParts { // they count since boot
		r.joules[part.part] = 1000 + 37*float64(i)
	}
	return r
}

// describe returns the rails' descriptions, in the first call only.
func (r *rails) describe() (out []pftrace.Rail) {
	if r.told {
		return nil
	}
	r.told = true
	for _, part := range railParts {
		out = append(out, pftrace.Rail{Name: part.name, Subsystem: part.subsystem, Hz: int(time.Second / r.update)})
	}
	return out
}

// counters returns the counters at a time, which is not before that of the previous call.
func (r *rails) counters(at time.Duration) (out []pftrace.Energy) {
	if at = at.Truncate(r.update); at > r.at {
		for part, j := range r.phone.Joules(r.at, at) {
			if into, ok := joinedRails[part]; ok {
				part = into
			}
			r.joules[part] += j
		}
		r.at = at
	}
	for _, part := range railParts {
		out = append(out, pftrace.Energy{Boottime: clock.Boottime(r.at), MicroWattSeconds: int64(r.joules[part.part] * 1e6)})
	}
	return out
}
