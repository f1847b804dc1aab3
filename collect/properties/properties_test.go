package properties

import (
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/collect/target"
	devctx "github.com/apkgate/apkgate/context"
	"github.com/apkgate/apkgate/internal/corpustest"
)

// tell reads one answer of a device with these properties.
func tell(read func(*reader, string), answer string, properties map[string]string) map[string]string {
	r := &reader{facts: target.Facts{Properties: properties}, Reading: Reading{Properties: map[string]string{}}}
	read(r, answer)
	maps.DeleteFunc(r.Properties, func(_, value string) bool { return value == "" })
	return r.Properties
}

func TestAnswersAreRead(t *testing.T) {
	t.Parallel()
	x86 := map[string]string{"ro.product.cpu.abi": "x86_64", "ro.dalvik.vm.native.bridge": "libndk_translation.so"}
	arm64 := map[string]string{"ro.product.cpu.abi": "arm64-v8a", "ro.dalvik.vm.native.bridge": "0"}
	for _, c := range []struct {
		what   string
		read   func(*reader, string)
		answer string
		of     map[string]string
		want   map[string]string
	}{
		{"a screen", (*reader).size, "Physical size: 1080x2400\n", nil, map[string]string{"screen": "1080x2400"}},
		{"an overridden one", (*reader).size, "Physical size: 1080x2400\nOverride size: 720x1600\n", nil, map[string]string{"screen": "720x1600"}},
		{"density", (*reader).density, "Physical density: 420\n", nil, map[string]string{"density": "420"}},
		{"an overridden one", (*reader).density, "Physical density: 420\nOverride density: 320\n", nil, map[string]string{"density": "320", "density_override": "320"}},
		{"a full battery", (*reader).battery, "  level: 80\n", nil, map[string]string{"battery": "80-100%"}},
		{"a battery", (*reader).battery, "  level: 79\n", nil, map[string]string{"battery": "50-79%"}},
		{"a battery", (*reader).battery, "  level: 20\n", nil, map[string]string{"battery": "20-49%"}},
		{"an empty one", (*reader).battery, "  level: 19\n", nil, map[string]string{"battery": "0-19%"}},
		{"none", (*reader).battery, "  level: 101\n", nil, map[string]string{}},
		{"heat", (*reader).thermal, "IsStatusOverride: false\nThermal Status: 3\nCached", nil, map[string]string{"thermal": "severe"}},
		{"no heat", (*reader).thermal, "Thermal Status: 0\n", nil, map[string]string{"thermal": "none"}},
		{"heat beyond words", (*reader).thermal, "Thermal Status: 7\n", nil, map[string]string{}},
		{"memory of 2 GB", (*reader).memory, "MemTotal:        2025432 kB\nMemFree: 1 kB\n", nil, map[string]string{"ram": "2 GB"}},
		{"of 1.5 GB", (*reader).memory, "MemTotal:        1530412 kB\n", nil, map[string]string{"ram": "1.5 GB"}},
		{"of 8 GB", (*reader).memory, "MemTotal:        7717192 kB\n", nil, map[string]string{"ram": "8 GB"}},
		{"of 12 GB", (*reader).memory, "MemTotal:       11672124 kB\n", nil, map[string]string{"ram": "12 GB"}},
		{"exactly 4 GB", (*reader).memory, "MemTotal:        4194304 kB\n", nil, map[string]string{"ram": "4 GB"}},
		{"more than anybody has", (*reader).memory, "MemTotal: 999999999999 kB\n", nil, map[string]string{}},
		{"none", (*reader).memory, "MemTotal: 0 kB\n", nil, map[string]string{}},
		{"cores", (*reader).cores, "0-7\n", nil, map[string]string{"cores": "8"}},
		{"one", (*reader).cores, "0\n", nil, map[string]string{"cores": "1"}},
		{"some are missing", (*reader).cores, "0-3,6\n", nil, map[string]string{"cores": "5"}},
		{"no list", (*reader).cores, "cat: no such file\n", nil, map[string]string{}},
		{"backwards", (*reader).cores, "7-0\n", nil, map[string]string{}},
		{"half a list", (*reader).cores, "0-x\n", nil, map[string]string{}},
		{"half a list", (*reader).cores, "x-3\n", nil, map[string]string{}},
		{"clocks of some", (*reader).clocks, "1800000\n0\ncat: no\n-5\n", nil, map[string]string{"cpu_mhz": "1x1800"}},
		{"a rate", (*reader).display, "DisplayDeviceInfo{\"x\": 720 x 1280, 90.0 fps, density 320}", nil, map[string]string{"screen": "720x1280", "refresh_hz": "90"}},
		{"a rate that is none", (*reader).display, "DisplayDeviceInfo{\"x\": 720 x 1280, 9.0 fps, density 320}", nil, map[string]string{"screen": "720x1280"}},
		{"nor is this", (*reader).display, "DisplayDeviceInfo{\"x\": 720 x 1280, 1001.0 fps, density 320}", nil, map[string]string{"screen": "720x1280"}},
		{"a GPU with a comma in its maker", (*reader).renderer, "GLES: Mesa, Inc., llvmpipe (LLVM 12.0.0, 256 bits), OpenGL ES 3.2\n", nil, map[string]string{"gpu": "llvmpipe"}},
		{"too many", (*reader).cores, "0-999999999\n", nil, map[string]string{}},
		{"clocks", (*reader).clocks, "1800000\n1800000\n1800000\n1800000\n2400000\n2400000\n2400000\n2841600\n", nil, map[string]string{"cpu_mhz": "4x1800 3x2400 1x2842"}},
		{"none", (*reader).clocks, "", nil, map[string]string{}},
		{"a phone's GPU", (*reader).renderer, "GLES: Qualcomm, Adreno (TM) 640, OpenGL ES 3.2 V@415.0 (GIT@663be55)\n", nil, map[string]string{"gpu": "Adreno (TM) 640"}},
		{"the host's", (*reader).renderer, "GLES: Google (NVIDIA Corporation), Android Emulator OpenGL ES Translator (NVIDIA GeForce GTX 1080/PCIe/SSE2), OpenGL ES 3.0 (4.5.0 NVIDIA 470.63.01)\n", nil, map[string]string{"gpu": "NVIDIA GeForce GTX 1080/PCIe/SSE2"}},
		{"none", (*reader).renderer, "GLES: Google (Google Inc. (Google)), Android Emulator OpenGL ES Translator (Google SwiftShader), OpenGL ES 3.0 (OpenGL ES 3.0 SwiftShader 4.0.0.1)\n", nil, map[string]string{"gpu": "swiftshader"}},
		{"a later none", (*reader).renderer, "GLES: Google (Google Inc. (Google)), Android Emulator OpenGL ES Translator (ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (LLVM 10.0.0) (0x0000C0DE)), SwiftShader driver-5.0.0)), OpenGL ES 3.1\n", nil, map[string]string{"gpu": "swiftshader"}},
		{"SurfaceFlinger keeps silent", (*reader).renderer, "", map[string]string{"ro.hardware.egl": "emulation"}, map[string]string{"gpu": "emulation"}},
		{"an app", (*reader).app, "    primaryCpuAbi=arm64-v8a\n    versionName=1.2\n", arm64, map[string]string{}},
		{"without machine code", (*reader).app, "    primaryCpuAbi=null\n", x86, map[string]string{}},
		{"of 32 bits", (*reader).app, "    primaryCpuAbi=armeabi-v7a\n", arm64, map[string]string{"app_abi": "armeabi-v7a"}},
		{"translated", (*reader).app, "    primaryCpuAbi=arm64-v8a\n", x86, map[string]string{"app_abi": "arm64-v8a", "translation": "ndk_translation"}},
		{"nobody knows how", (*reader).app, "    primaryCpuAbi=x86\n", arm64, map[string]string{"app_abi": "x86", "translation": "unknown"}},
	} {
		if got := tell(c.read, c.answer, c.of); !maps.Equal(got, c.want) {
			t.Errorf("%s: %q makes %v, want %v", c.what, c.answer, got, c.want)
		}
	}
}

func TestVirtual(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]map[string]string{
		"":           {"ro.hardware": "oriole", "ro.product.manufacturer": "Google"},
		"emulator":   {"ro.hardware": "ranchu", "ro.kernel.qemu": "1", "ro.product.manufacturer": "Google"},
		"genymotion": {"ro.hardware": "vbox86", "ro.product.manufacturer": "Genymotion"},
		"cuttlefish": {"ro.hardware": "cutf_cvm"},
		"redroid":    {"ro.hardware": "redroid"},
	} {
		if got := virtual(target.Facts{Properties: p}); got != want {
			t.Errorf("%v: %q, want %q", p, got, want)
		}
	}
	if got := virtual(target.Facts{Properties: map[string]string{"ro.kernel.qemu": "1", "ro.product.manufacturer": "Genymobile"}}); got != "genymotion" {
		t.Errorf("a later Genymotion is %q", got)
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	got := split("apkgate-asks 0\nfirst\nof two\napkgate-asks 2\n\napkgate-asks 9\nnobody asked\napkgate-asks x\ny\napkgate-asks -1\n", 3)
	if len(got) != 3 || got[0] != "first\nof two" || got[1] != "" || strings.TrimSpace(got[2]) != "" {
		t.Errorf("got %q", got)
	}
}

func TestHost(t *testing.T) {
	t.Parallel()
	if got := host(); !strings.Contains(got, "core") || !strings.Contains(got, ", ") {
		t.Errorf("got %q, want a CPU and its cores", got)
	}
}

func TestRealDevicesAreRead(t *testing.T) {
	t.Parallel()
	read := func(parts ...string) string {
		raw, err := os.ReadFile(corpustest.Path(t, parts...))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	text := read("gfxinfo", "anavmode_device-info.txt")
	for _, c := range []struct {
		read       func(*reader, string)
		name, want string
	}{{(*reader).renderer, devctx.GPU, "Mali-G52 MC2"}, {(*reader).memory, devctx.RAM, "4 GB"}, {(*reader).density, devctx.Density, "180"}} {
		if got := tell(c.read, text, nil)[c.name]; got != c.want {
			t.Errorf("%s is %q, want %q", c.name, got, c.want)
		}
	}
	if got := tell((*reader).thermal, read("labs", "device", "dumpsys-thermalservice.txt"), nil)[devctx.Thermal]; got != "none" {
		t.Errorf("heat is %q, want none", got)
	}
}
