package phone

import (
	"archive/zip"
	"bytes"
	"fmt"
)

// reports is where bug reports lie.
const reports = "/data/user_de/0/com.android.shell/files/bugreports"

// bugreportz is bugreportz -v|[-p] (Android 7): it writes a bug report into a zip file,
// and says where (frameworks/native/cmds/bugreportz/readme.md).
func bugreportz(c *call) int {
	if c.Arg(0) == "-v" {
		version := "1.0"
		if c.profile.API >= 26 {
			version = "1.1"
		}
		c.Errorf("%s\n", version)
		return 0
	}
	name := fmt.Sprintf("%s/bugreport-%s-%s.zip", reports, productName(c.profile), c.state.props["ro.build.id"])
	var report bytes.Buffer
	w := zip.NewWriter(&report)
	for entry, text := range map[string]string{"version.txt": "2.0", "main_entry.txt": "bugreport.txt", "bugreport.txt": c.flatReport()} {
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
		err = c.files.MakeDir(reports, true)
	}
	if err == nil {
		err = c.files.Write(name, report.Bytes(), 0o600)
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

// flatReport is a bug report as text, as little as there is of one.
func (p *Phone) flatReport() string {
	return fmt.Sprintf("========================================================\n== dumpstate: a SIMULATED phone\n========================================================\n\nBuild: %s\nBuild fingerprint: '%s'\n",
		p.state.props["ro.build.id"], p.state.props["ro.build.fingerprint"])
}

// bugreport prints a bug report.
func bugreport(c *call) int {
	c.Printf("%s", c.flatReport())
	return 0
}
