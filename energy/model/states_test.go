package model_test

import (
	"math"
	"testing"
	"time"

	"github.com/apkgate/apkgate/energy/model"
	"github.com/apkgate/apkgate/trace/batterystats"
)

// An invalid time must not become a duration of 292 years.
func TestStatesOfInvalidTimes(t *testing.T) {
	t.Parallel()
	for _, ms := range []float64{math.NaN(), -1, math.Inf(-1)} {
		p := &batterystats.Period{Stated: map[string]float64{"screen_on_ms": ms, "wifi_rx_ms": ms, "wifi_idle_ms": 20}}
		s := model.StatesOf(p, 10_001)
		if s.ScreenOn != 0 || s.Device.Wifi.Rx != 0 || s.Device.Wifi.Idle != 20*time.Millisecond {
			t.Errorf("%g ms: screen on for %v, Wi-Fi %+v", ms, s.ScreenOn, s.Device.Wifi)
		}
	}
}
