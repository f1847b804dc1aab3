// Package build provides the build of Android that a simulated phone runs: its properties, its
// default settings, and its banner in adb's handshake. All follow from the phone's profile.
package build

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/simulator/profile"
)

// Properties returns what getprop prints; production is a user build, lowRAM a build for a
// phone with little memory.
func Properties(p profile.Profile, production, lowRAM bool) map[string]string {
	name := productName(p)
	brand := strings.ToLower(p.Manufacturer)
	build := fmt.Sprintf("SIM%d.260105", p.API)
	props := map[string]string{
		"ro.build.version.release": p.SDK, "ro.build.version.sdk": strconv.Itoa(p.API),
		"ro.build.version.codename": "REL", "ro.build.version.incremental": "1",
		"ro.build.id": build, "ro.build.type": "userdebug", "ro.build.tags": "test-keys",
		"ro.build.fingerprint":    fmt.Sprintf("%s/%s/%s:%s/%s/1:userdebug/test-keys", brand, name, name, p.SDK, build),
		"ro.product.manufacturer": p.Manufacturer, "ro.product.brand": p.Manufacturer, "ro.product.model": p.Model,
		"ro.product.name": name, "ro.product.device": name, "ro.product.board": "simulated",
		"ro.product.cpu.abi": p.ABI, "ro.product.cpu.abilist": strings.Join(p.ABIs(), ","), "ro.dalvik.vm.native.bridge": "0", "ro.hardware": "simulated",
		"ro.serialno": p.Serial(), "ro.boot.serialno": p.Serial(), "ro.sf.lcd_density": strconv.Itoa(p.DPI),
		"ro.debuggable": "1", "ro.secure": "1", "ro.apkgate.simulated": "1",
		"persist.sys.timezone": "GMT", "ro.product.locale": "en-US", "sys.boot_completed": "1", "dev.bootcomplete": "1", "init.svc.bootanim": "stopped",
	}
	if p.Sensors.Emulator {
		props["ro.hardware"], props["ro.kernel.qemu"], props["ro.boot.qemu"] = "ranchu", "1", "1"
		props["ro.dalvik.vm.native.bridge"] = "libndk_translation.so"
		props["ro.hardware.egl"] = "emulation"
	}
	if p.API >= 23 {
		props["ro.build.version.security_patch"] = "2026-01-05"
	}
	if p.API >= 36 && !production {
		props["dalvik.vm.allow_profile_code"] = "true"
	}
	if production {
		produce(props)
	}
	if lowRAM {
		props["ro.config.low_ram"] = "true"
	}
	return props
}

// productName is ro.product.name.
func productName(p profile.Profile) string {
	return strings.ToLower(strings.ReplaceAll(p.Model, " ", "_"))
}

// produce changes the properties to those of a user build.
func produce(props map[string]string) {
	props["ro.build.type"], props["ro.build.tags"], props["ro.debuggable"] = "user", "release-keys", "0"
	props["ro.build.fingerprint"] = strings.Replace(props["ro.build.fingerprint"], ":userdebug/test-keys", ":user/release-keys", 1)
}

// Settings returns a phone's default settings.
func Settings() map[string]string {
	return map[string]string{
		"global window_animation_scale": "1.0", "global transition_animation_scale": "1.0",
		"global animator_duration_scale": "1.0", "global airplane_mode_on": "0",
		"global wifi_on": "1", "global mobile_data": "1", "global stay_on_while_plugged_in": "0",
		"global low_power": "0", "system screen_off_timeout": "60000", "system screen_brightness": "102",
		"system accelerometer_rotation": "0",
	}
}

// features are the features of adb daemons, with the API level that introduced each
// (transport.cpp of each release).
var features = []struct {
	since int
	names string
}{
	{24, "shell_v2,cmd"},
	{26, "stat_v2"},
	{29, "fixed_push_mkdir,apex,abb,fixed_push_symlink_timestamp"},
	{30, "ls_v2,abb_exec,remount_shell,track_app,sendrecv_v2,sendrecv_v2_brotli"},
	{31, "sendrecv_v2_lz4,sendrecv_v2_zstd,sendrecv_v2_dry_run_send"},
	{34, "openscreen_mdns,delayed_ack"},
	{35, "devicetracker_proto_format,devraw,app_info,server_status,track_mdns"},
}

// Banner returns a phone's banner in adb's handshake.
func Banner(p profile.Profile) string {
	var offered []string
	for _, f := range features {
		if p.API >= f.since {
			offered = append(offered, f.names)
		}
	}
	list := ""
	if offered != nil {
		list = "features=" + strings.Join(offered, ",")
	}
	name := productName(p)
	return fmt.Sprintf("device::ro.product.name=%s;ro.product.model=%s;ro.product.device=%s;%s",
		name, p.Model, name, list)
}
