package target

import "testing"

func TestIsEmulator(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, value string
		want        bool
	}{
		{"ro.kernel.qemu", "1", true}, // of the SDK, up to Android 11
		{"ro.boot.qemu", "1", true},   // since
		{"ro.hardware", "vbox86p", true},
		{"ro.hardware", "cutf_cvm", true},
		{"ro.hardware", "redroid", true},
		{"ro.hardware.virtual_device", "1", true},
		{"ro.hardware.virtual_device", "0", false},
		{"ro.hardware", "oriole", false},
		{"ro.hardware", "", false},
	} {
		if got := (Facts{Properties: map[string]string{c.name: c.value}}).IsEmulator(); got != c.want {
			t.Errorf("%s=%s: emulator %v, want %v", c.name, c.value, got, c.want)
		}
	}
}
