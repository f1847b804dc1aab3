package phone

import (
	"fmt"
	"strconv"
	"strings"
)

// features are what the adb daemon of an Android version offers, from the API level
// on that brought it (transport.cpp of each release).
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

// Banner is the phone's identity in adb's handshake.
func (p *Phone) Banner() string {
	var offered []string
	for _, f := range features {
		if p.profile.API >= f.since {
			offered = append(offered, f.names)
		}
	}
	list := ""
	if offered != nil {
		list = "features=" + strings.Join(offered, ",")
	}
	name := productName(p.profile)
	return fmt.Sprintf("device::ro.product.name=%s;ro.product.model=%s;ro.product.device=%s;%s",
		name, p.profile.Model, name, list)
}

// Control answers what asks the adb daemon to become another, in the words of its
// services (restart_service.cpp).
func (p *Phone) Control(service, argument string) (answer string, restarts bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch service {
	case "root":
		switch {
		case p.files.Root:
			return "adbd is already running as root\n", false
		case p.state.props["ro.debuggable"] != "1":
			return "adbd cannot run as root in production builds\n", false
		}
		p.files.Root = true
		return "restarting adbd as root\n", true
	case "unroot":
		if !p.files.Root {
			return "adbd not running as root\n", false
		}
		p.files.Root = false
		return "restarting adbd as non root\n", true
	case "tcpip":
		port, err := strconv.Atoi(argument)
		if err != nil || port <= 0 || port > 65535 {
			return "invalid port\n", false
		}
		p.state.props["service.adb.tcp.port"] = argument
		return fmt.Sprintf("restarting in TCP mode port: %d\n", port), true
	}
	delete(p.state.props, "service.adb.tcp.port")
	return "restarting in USB mode\n", true
}

// produce makes the properties those of a build as it is sold.
func produce(props map[string]string) {
	props["ro.build.type"], props["ro.build.tags"], props["ro.debuggable"] = "user", "release-keys", "0"
	props["ro.build.fingerprint"] = strings.Replace(props["ro.build.fingerprint"], ":userdebug/test-keys", ":user/release-keys", 1)
}
