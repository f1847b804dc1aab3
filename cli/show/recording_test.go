package show_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/usecase/exit"
)

// bugReport is the archive that adb bugreport writes, with a made-up report: an hour on battery at
// 4 V of which Android estimates 50 mAh, and 100 frames.
func bugReport(t *testing.T) string {
	t.Helper()
	const text = `== dumpstate: 2026-01-02 03:04:05
DUMP OF SERVICE gfxinfo:
Applications Graphics Acceleration Info:
Uptime: 123456 Realtime: 123456

** Graphics info for pid 7 [com.example] **

Stats since: 5000ns
Total frames rendered: 100
Janky frames: 20 (20.00%)
HISTOGRAM: 9ms=80 17ms=20

View hierarchy:

Total ViewRootImpl: 0
--------- 0.004s was the duration of dumpsys gfxinfo, ending at: 2026-01-02 03:04:05
------ CHECKIN BATTERYSTATS (dumpsys batterystats -c) ------
9,h,0:RESET:TIME:1565788946717
9,h,0,Bp=n,Bv=4000
9,0,l,bt,1,3600000,3000000,7200000,6600000,1565788946713,900000,300000
9,0,l,pws,2700,50,45,72
9,1000,l,cpu,500,250,0
------ 0.103s was the duration of 'CHECKIN BATTERYSTATS' ------
`
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range [][2]string{
		{"version.txt", "2.0"}, {"main_entry.txt", "bugreport-x.txt"}, {"bugreport-x.txt", text}, {"FS/proc/1/comm", "init"}, {"FS/proc/2/comm", "kthreadd"},
	} {
		w, err := z.Create(e[0])
		if err == nil {
			_, err = io.WriteString(w, e[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return clitest.WriteFile(t, filepath.Join(t.TempDir(), "bugreport.zip"), b.String())
}

func TestInspectReadsAPackedBugReport(t *testing.T) {
	t.Parallel()
	path := bugReport(t)
	for reader, want := range map[string]map[string]float64{
		"batterystats": {"energy.total_j": 720, "cpu.time_ms": 750},
		"gfxinfo":      {"frames.count": 100, "frames.janky": 20, "frames.slow": 20},
	} {
		got := clitest.Run(t, nil, "inspect", reader, path, "--format", "json")
		var seen struct {
			Entry    string
			Metrics  map[string]float64
			Warnings []any
		}
		if err := json.Unmarshal([]byte(got.Stdout), &seen); err != nil || got.Status != exit.StatusPass {
			t.Fatalf("%s: %v, %+v", reader, err, got)
		}
		if seen.Entry != "bugreport-x.txt" || len(seen.Warnings) != 0 {
			t.Errorf("%s: %+v", reader, seen)
		}
		for name, v := range want {
			if seen.Metrics[name] != v {
				t.Errorf("%s: %s is %g, want %g", reader, name, seen.Metrics[name], v)
			}
		}
	}
	clitest.Refuses(t, clitest.Run(t, nil, "inspect", "perfetto", path), "bugreport.zip", "no recording of that kind")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clitest.Refuses(t, clitest.Run(t, bytes.NewReader(data), "inspect", "gfxinfo", "-"), "not from a pipe")
	clitest.Refuses(t, clitest.Run(t, nil, "inspect", "gfxinfo", clitest.WriteFile(t, path, string(data[:len(data)-40]))), "may be incomplete")
}

func TestInspectReadsGzip(t *testing.T) {
	t.Parallel()
	path := clitest.WriteFile(t, filepath.Join(t.TempDir(), "log.gz"), clitest.Gzipped(t, "     1.000   500   500 I apkgate : open\n     2.000  1000  1001 I am_anr  : [0,500,com.example,8,Input]\n"))
	for name, got := range map[string]clitest.Result{
		"a file": clitest.Run(t, nil, "inspect", "logcat", path, "--format", "json"),
		"a pipe": clitest.Run(t, strings.NewReader(clitest.Gzipped(t, "     2.000  1000  1001 I am_anr  : [0,500,com.example,8,Input]\n")), "inspect", "logcat", "-", "--format", "json"),
	} {
		if got.Status != exit.StatusPass || !strings.Contains(got.Stdout, `"anr.count": 1`) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
