package dumps

import (
	"archive/zip"
	"bytes"
	"fmt"

	"github.com/apkgate/apkgate/simulator/internal/shell"
	"github.com/apkgate/apkgate/simulator/internal/storage"
)

// reports is the folder of bug reports.
const reports = "/data/user_de/0/com.android.shell/files/bugreports"

// Reporter is the phone that a bug report is about.
type Reporter struct {
	API      int
	Files    *storage.Files
	Property func(name string) string // a system property
}

// BugReportZ is bugreportz -v|[-p] (Android 7): it writes a bug report into a zip file, and
// prints its path (frameworks/native/cmds/bugreportz/readme.md).
func (r Reporter) BugReportZ(c *shell.Call) int {
	if c.Arg(0) == "-v" {
		version := "1.0"
		if r.API >= 26 {
			version = "1.1"
		}
		c.Errorf("%s\n", version)
		return 0
	}
	name := fmt.Sprintf("%s/bugreport-%s-%s.zip", reports, r.Property("ro.product.name"), r.Property("ro.build.id"))
	var report bytes.Buffer
	w := zip.NewWriter(&report)
	for entry, text := range map[string]string{"version.txt": "2.0", "main_entry.txt": "bugreport.txt", "bugreport.txt": r.flat()} {
		f, err := w.Create(entry)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			c.Printf("FAIL:%v\n", err)
			return 1
		}
	}
	err := w.Close()
	if err == nil {
		err = r.Files.MakeDir(reports, true)
	}
	if err == nil {
		err = r.Files.Write(name, report.Bytes(), 0o600)
	}
	if err != nil {
		c.Printf("FAIL:%v\n", err)
		return 1
	}
	if c.Arg(0) == "-p" {
		c.Printf("BEGIN:%s\nPROGRESS:50/100\n", name)
	}
	c.Printf("OK:%s\n", name)
	return 0
}

// flat returns a minimal bug report as text.
func (r Reporter) flat() string {
	return fmt.Sprintf("========================================================\n== dumpstate: a SIMULATED phone\n========================================================\n\nBuild: %s\nBuild fingerprint: '%s'\n",
		r.Property("ro.build.id"), r.Property("ro.build.fingerprint"))
}

// BugReport prints a bug report.
func (r Reporter) BugReport(c *shell.Call) int {
	c.Printf("%s", r.flat())
	return 0
}
