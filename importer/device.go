package importer

import (
	"regexp"
	"strconv"
)

// deviceContext is what androidx.benchmark records of the device. Only what is constant for one
// configuration of a device becomes a property: the fingerprint's build number and the ART module's
// version change with every update, and would make each run a context of its own.
type deviceContext struct {
	Build struct {
		Brand       string `json:"brand"`
		Model       string `json:"model"`
		Fingerprint string `json:"fingerprint"`
		Version     struct {
			SDK int `json:"sdk"`
		} `json:"version"`
	} `json:"build"`
	CPUCoreCount    int    `json:"cpuCoreCount"`
	CPULocked       *bool  `json:"cpuLocked"`
	MemTotalBytes   int64  `json:"memTotalBytes"`
	CompilationMode string `json:"compilationMode"`
}

// properties returns the context properties, without those that the file leaves out.
func (c deviceContext) properties() map[string]string {
	out := map[string]string{
		"manufacturer": c.Build.Brand,
		"model":        c.Build.Model,
		"sdk":          release(c.Build.Fingerprint),
		"api":          positive(c.Build.Version.SDK),
		"cpu_cores":    positive(c.CPUCoreCount),
		"memory_gb":    positive(memoryGB(c.MemTotalBytes)),
		"compilation":  c.CompilationMode,
	}
	if c.CPULocked != nil {
		out["cpu_locked"] = strconv.FormatBool(*c.CPULocked)
	}
	for k, v := range out {
		if v == "" {
			delete(out, k)
		}
	}
	return out
}

var fingerprint = regexp.MustCompile(`^[^/]*/[^/]*/[^/:]*:([0-9A-Za-z.]{1,20})/`)

// release returns the Android version in a fingerprint, whose layout is
// brand/product/device:release/id/incremental:type/tags (android.os.Build).
func release(text string) string {
	if m := fingerprint.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// memoryGB returns the memory size that the device is sold with. Linux counts a little less, and
// not always the same, so that it is the next size up; 0 is unknown.
func memoryGB(bytes int64) int {
	for _, size := range []int{1, 2, 3, 4, 6, 8, 12, 16, 18, 24, 32, 48, 64} {
		if bytes > 0 && bytes <= int64(size)<<30 {
			return size
		}
	}
	return 0
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}
