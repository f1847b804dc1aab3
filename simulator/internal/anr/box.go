package anr

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/shell"
)

// Book is a phone's record of failures.
type Book struct {
	API     int
	entries []entry
	exits   []Exit
	last    *Event // of apps that handled no input
}

// entry is an entry of the drop box.
type entry struct {
	at   time.Time
	tag  string
	text string
	size int // compressed
}

// Limits of the drop box: on one entry (ActivityManagerService.DROPBOX_DEFAULT_MAX_SIZE), and
// on the number of entries.
const (
	maxEntry   = 256 << 10
	maxEntries = 1000
)

// Keep adds an entry to the drop box.
func (b *Book) Keep(at time.Duration, tag, text string) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	b.entries = append(b.entries, entry{clock.Wall(at), tag, text, packed.Len()})
	b.entries = b.entries[max(0, len(b.entries)-maxEntries):]
}

// Anr adds an app that does not respond, with its written stacks, to the drop box
// (ActivityManagerService.addErrorToDropBox), and keeps it as the last ANR.
func (b *Book) Anr(e Event, u Usage, stacks string) {
	if e.activity() != "" {
		b.last = &e
	}
	var t strings.Builder
	e.writeHeaders(&t)
	t.WriteString("\n" + e.pressure() + u.text(e) + "\n")
	if room := maxEntry - t.Len(); len(stacks) > room {
		stacks = strings.ToValidUTF8(stacks[:room], "") + "\n\n[[TRUNCATED]]"
	}
	b.Keep(e.At, "data_app_anr", t.String()+stacks)
}

// writeHeaders writes the description of the process (appendDropBoxProcessHeaders).
func (e Event) writeHeaders(t *strings.Builder) {
	line := func(since int, format string, args ...any) {
		if e.API >= since {
			fmt.Fprintf(t, format+"\n", args...)
		}
	}
	line(0, "Process: %s", e.App.Package)
	line(26, "PID: %d", e.PID)
	line(33, "UID: %d", e.UID)
	line(33, "Frozen: false")
	line(0, "Flags: 0x%x", Flags)
	line(0, "Package: %s v%d (%s)", e.App.Package, e.App.VersionCode, e.App.Version)
	line(26, "Foreground: %s", e.foreground())
	if a := e.activity(); a != "" {
		line(0, "Activity: %s", a)
	}
	line(33, "ErrorId: %s", e.errorID())
	line(0, "Subject: %s", e.Reason())
	line(0, "Build: %s", e.Build)
	line(31, "Loading-Progress: 1.0")
	line(33, "Dropped-Count: 0")
}

// DumpBox is dumpsys dropbox [--print | --file] [YYYY-mm-dd] [HH:MM:SS] [TAG]
// (DropBoxManagerService.dump): the entries that match every word.
func (b *Book) DumpBox(c *shell.Call) int {
	print, wanted := false, []string{}
	for _, a := range c.Args {
		switch a {
		case "-p", "--print":
			print = true
		default:
			if !strings.HasPrefix(a, "-") {
				wanted = append(wanted, a)
			}
		}
	}
	c.Printf("Drop box contents: %d entries\nMax entries: %d\n", len(b.entries), maxEntries)
	if b.API >= 29 {
		c.Printf("Low priority rate limit period: 2000 ms\nLow priority tags: {data_app_wtf, keymaster, system_server_wtf, system_app_strictmode, system_app_wtf, system_server_strictmode, data_app_strictmode, netstats}\n")
	}
	if len(wanted) > 0 {
		c.Printf("\nSearching for: %s\n", strings.Join(wanted, " "))
	}
	c.Printf("\n")
	found := false
	for _, one := range b.entries {
		if !one.isAll(wanted) {
			continue
		}
		found = true
		if print {
			c.Printf("========================================\n")
		}
		c.Printf("%s %s (compressed text, %d bytes)\n", one.at.Format(time.DateTime), one.tag, one.size)
		if print {
			c.Printf("%s\n", one.text)
		} else {
			c.Printf("    %s ...\n", strings.ReplaceAll(strings.TrimSpace(one.text[:min(len(one.text), 70)]), "\n", "/"))
		}
	}
	if !found {
		c.Printf("(No entries found.)\n")
	}
	if len(c.Args) == 0 {
		c.Printf("\nUsage: dumpsys dropbox [--print|--file] [YYYY-mm-dd] [HH:MM:SS] [tag]\n")
	}
	return 0
}

// isAll reports whether each word is the entry's tag or part of its date.
func (e entry) isAll(wanted []string) bool {
	for _, w := range wanted {
		if w != e.tag && !strings.Contains(e.at.Format(time.DateTime), w) {
			return false
		}
	}
	return true
}

const none = "  <no ANR has occurred since boot>\n"

// DumpLast is dumpsys activity lastanr (ActivityTaskManagerService.dumpLastANRLocked): only
// apps that handled no input, without their stacks.
func (b *Book) DumpLast(c *shell.Call, activities func() int) int {
	c.Printf("ACTIVITY MANAGER LAST ANR (dumpsys activity lastanr)\n")
	if b.last == nil {
		c.Printf("%s", none)
		return 0
	}
	c.Printf("  ANR time: %s\n  Application at fault: %s\n  Reason: %s\n\n", clock.Wall(b.last.At).Format("Jan 2, 2006 3:04:05 PM"), b.last.App.Component(), b.last.Reason())
	return activities()
}

// DumpTraces is dumpsys activity lastanr-traces, since Android 8: the newest file in
// /data/anr, which the system reads on behalf of the shell.
func (b *Book) DumpTraces(c *shell.Call, newest string, read func(string) ([]byte, error)) int {
	c.Printf("ACTIVITY MANAGER LAST ANR TRACES (dumpsys activity lastanr-traces)\n")
	if newest == "" {
		c.Printf("%s", none)
		return 0
	}
	c.Printf("File: %s\n\n", newest[strings.LastIndexByte(newest, '/')+1:])
	text, err := read(newest)
	if err != nil {
		c.Printf("Unable to read: %v\n", err)
		return 0
	}
	c.Printf("%s\n", strings.TrimPrefix(string(text), "\n"))
	return 0
}

// Forget is the effect of a restart of the system: the drop box and the exit reasons stay.
func (b *Book) Forget() { b.last = nil }

// Newest returns the newest of the files.
func Newest(files []string, stat func(string) (fs.FileInfo, error)) (newest string) {
	var at time.Time
	for _, name := range files {
		if info, err := stat(name); err == nil && (newest == "" || info.ModTime().After(at)) {
			newest, at = name, info.ModTime()
		}
	}
	return newest
}
