package batterystats_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadCheckinStates(t *testing.T) {
	t.Parallel()
	d := read(t, `9,0,l,br,1,2,3,4,5
9,0,l,sgt,6,7,8,9,10
9,0,l,sst,11
9,0,l,gwfl,12,13,0,0,0
9,0,l,gwfcd,14,15,0,16
9,0,l,gble,17,18,0,0.5,19
9,0,l,gcf,300000,600000,300000,900000,300000
9,10086,l,nt,1,2,3,4,5,6,7,8,20000,1
9,10086,l,wfl,1,21000,22000,0
9,10086,l,wfcd,23,24,0,25
9,10086,l,ble,26,27,0,28
9,10086,l,aud,29,1
9,10086,l,vid,30,1
9,10086,l,cam,31,1
9,10086,l,fla,32,1
9,10086,l,sr,7,99,1
9,10086,l,sr,-10000,33,1
9,10086,l,sr,0,5628,21,0,11256,0
9,10086,l,sr,7,1,1
9,10087,l,sr,-3,8,1
9,10086,l,ctf,TOP,5,9,9,9,9,9,0,0,0,0,0
9,10086,l,ctf,A,5,34,35,36,37,38,0,0,0,0,0
`)
	p := d.Periods[0]
	want := map[string]float64{"screen_dark_ms": 1, "screen_dim_ms": 2, "screen_medium_ms": 3, "screen_light_ms": 4, "screen_bright_ms": 5,
		"signal_none_ms": 6, "signal_poor_ms": 7, "signal_moderate_ms": 8, "signal_good_ms": 9, "signal_great_ms": 10, "signal_scan_ms": 11,
		"wifi_on_ms": 12, "wifi_running_ms": 13, "wifi_idle_ms": 14, "wifi_rx_ms": 15, "wifi_tx_ms": 16,
		"bluetooth_idle_ms": 17, "bluetooth_rx_ms": 18, "bluetooth_tx_ms": 19}
	if d := cmp.Diff(want, p.Stated); d != "" {
		t.Error("device:", d)
	}
	wantUID := map[string]float64{"mobile_rx_bytes": 1, "mobile_tx_bytes": 2, "wifi_rx_bytes": 3, "wifi_tx_bytes": 4,
		"mobile_rx_packets": 5, "mobile_tx_packets": 6, "wifi_rx_packets": 7, "wifi_tx_packets": 8, "mobile_radio_active_ms": 20,
		"wifi_scan_ms": 21, "wifi_running_ms": 22, "wifi_idle_ms": 23, "wifi_rx_ms": 24, "wifi_tx_ms": 25,
		"bluetooth_idle_ms": 26, "bluetooth_rx_ms": 27, "bluetooth_tx_ms": 28,
		"audio_ms": 29, "video_ms": 30, "camera_ms": 31, "flashlight_ms": 32, "gps_ms": 33}
	if d := cmp.Diff(wantUID, p.UIDs[0].Stated); d != "" {
		t.Error("UID:", d)
	}
	if d := cmp.Diff(map[int]float64{7: 99, 0: 5628}, p.UIDs[0].SensorsMS); d != "" {
		t.Error("sensors:", d)
	}
	if d := cmp.Diff(map[int]float64{-3: 8}, p.UIDs[1].SensorsMS); d != "" {
		t.Error("sensors of the second UID:", d)
	}
	if d := cmp.Diff([][]int{{300_000, 600_000}, {300_000, 900_000}, {300_000}}, p.SpeedsKHz); d != "" {
		t.Error("speeds:", d)
	}
	if d := cmp.Diff([]float64{34, 35, 36, 37, 38}, p.UIDs[0].AtSpeedMS); d != "" {
		t.Error("times at speeds:", d)
	}
	if len(d.Warnings) != 0 {
		t.Error(d.Warnings)
	}
}

func TestReadTextStates(t *testing.T) {
	t.Parallel()
	d := read(t, `Statistics since last charge:
  Screen on: 1m 0s 0ms (100%) 1x, Interactive: 1m 0s 0ms (100%)
  Screen brightnesses:
    dark 20s 0ms (33.3%)
    bright 40s 0ms (66.7%)
  Signal scanning time: 7ms
  Wi-Fi total received: 1.00KB, sent: 2.00KB (packets received 3, sent 4)
  Wifi on: 50s 0ms (83.3%), Wifi running: 45s 0ms (75.0%)
     WiFi Scan time:  5ms (0.0%)
     WiFi Idle time:   30s 0ms (50.0%)
     WiFi Rx time:     2s 0ms (3.3%)
     WiFi Tx time:     1s 0ms (1.7%)
     Bluetooth Tx time:     9ms (0.0%)
  u0a86:
    Wi-Fi network: 1.00KB received, 2.00KB sent (packets 5 received, 6 sent)
    Mobile radio active: 12ms (3.6%) 10x @ 37.5 mspp
       WiFi Rx time:     1s 500ms (2.5%)
    Audio: 13ms realtime (6 times)
    Sensor GPS: 14ms realtime (7 times)
    Sensor 5: (not used)
    Sensor 11: 15ms blamed realtime, 1s 0ms realtime (3 times), 0ms background (0 times)
    Sensor 0: 1h 25m 19s 339ms realtime (23 times)
`)
	want := map[string]float64{"screen_on_ms": 60000, "interactive_ms": 60000, "screen_dark_ms": 20000, "screen_bright_ms": 40000, "signal_scan_ms": 7,
		"wifi_rx_bytes": 1024, "wifi_tx_bytes": 2048, "wifi_rx_packets": 3, "wifi_tx_packets": 4,
		"wifi_on_ms": 50000, "wifi_running_ms": 45000, "wifi_scan_ms": 5, "wifi_idle_ms": 30000, "wifi_rx_ms": 2000, "wifi_tx_ms": 1000, "bluetooth_tx_ms": 9}
	if d := cmp.Diff(want, d.Periods[0].Stated); d != "" {
		t.Error("device:", d)
	}
	wantUID := map[string]float64{"wifi_rx_bytes": 1024, "wifi_tx_bytes": 2048, "wifi_rx_packets": 5, "wifi_tx_packets": 6,
		"mobile_radio_active_ms": 12, "wifi_rx_ms": 1500, "audio_ms": 13, "gps_ms": 14}
	if d := cmp.Diff(wantUID, d.Periods[0].UIDs[0].Stated); d != "" {
		t.Error("UID:", d)
	}
	if d := cmp.Diff(map[int]float64{11: 15, 0: 5_119_339}, d.Periods[0].UIDs[0].SensorsMS); d != "" {
		t.Error("sensors:", d)
	}
	if len(d.Warnings) != 0 {
		t.Error(d.Warnings)
	}
}

func TestReadRejectsInvalidStates(t *testing.T) {
	t.Parallel()
	d := read(t, "9,0,l,gcf,300000,fast\n9,0,l,gwfcd,1,2\n9,10086,l,ctf,A,4,1,2\n9,10086,l,ctf,A,2,1,x\n9,10086,l,aud,long\n9,10086,l,sr,7\n9,10086,l,sr,7,long\n9,10086,l,sr,seven,1\n")
	for line, part := range map[int]string{1: "gcf: its column 2 is not a number", 2: "gwfcd: the line ends before the time of transmission",
		3: "ctf: its count of speeds does not match the line", 4: "ctf: its column 4 is not a number", 5: "aud: its column 1 is not a number",
		6: "sr: the line ends before the time", 7: "sr: its column 2 is not a number", 8: "sr: names no sensor"} {
		if !warned(d.Warnings, line, part) {
			t.Errorf("line %d: want a warning with %q in %v", line, part, d.Warnings)
		}
	}
	if p := d.Periods[0]; p.SpeedsKHz != nil || p.UIDs[0].AtSpeedMS != nil || p.UIDs[0].SensorsMS != nil {
		t.Errorf("speeds %v, times %v and sensors %v of lines that can't be read", p.SpeedsKHz, p.UIDs[0].AtSpeedMS, p.UIDs[0].SensorsMS)
	}
}
