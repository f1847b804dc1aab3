// Package avd simulates the programs of Android's SDK: avdmanager and the emulator.
//
// It owns their output and the files that they write, by the tools' own sources; the phone of
// an emulator belongs to package instance. An unknown option is refused, as by the real
// programs, so that a command line that only a stand-in accepts fails the test.
package avd

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/simulator/standin/state"
)

// The failures of avdmanager.
const (
	// FailsWithoutJava makes avdmanager's script find no Java.
	FailsWithoutJava = "no-java"
	// FailsManager makes it exit with an unexpected exception.
	FailsManager = "manager-crashes"
)

// models are the device ids that avdmanager knows.
var models = []string{"medium_phone", "Nexus 5X", "pixel", "pixel_6", "pixel_7"}

// manager is one call of avdmanager.
type manager struct {
	home                string
	name, image, device string
	force, compact      bool
	stdout, stderr      io.Writer
}

// Manager simulates avdmanager.
func Manager(folder state.Folder, args []string, stdout, stderr io.Writer) int {
	m := manager{home: home(), stdout: stdout, stderr: stderr}
	switch {
	case folder.Fails(FailsWithoutJava):
		fmt.Fprint(stderr, "\nERROR: JAVA_HOME is not set and no 'java' command could be found in your PATH.\n\nPlease set the JAVA_HOME variable in your environment to match the\nlocation of your Java installation.\n")
		return 1
	case folder.Fails(FailsManager):
		fmt.Fprint(stderr, "Exception in thread \"main\" java.lang.NullPointerException\n\tat com.android.sdklib.tool.AvdManagerCli.run(AvdManagerCli.java:1)\n")
		return 1
	case len(args) < 2:
		return m.refuse("A verb and an object are wanted.")
	}
	if err := m.flags().Parse(args[2:]); err != nil {
		return m.refuse("%v", err)
	}
	switch strings.Join(args[:2], " ") {
	case "create avd":
		fmt.Fprint(stdout, "[=======                                ] 20% Fetch remote repository...\r[=======================================] 100% Fetch remote repository...\r")
		return m.create()
	case "delete avd":
		return m.delete()
	case "list avd":
		return m.list()
	}
	return m.refuse("%q is not known.", args[:2])
}

func (m *manager) refuse(format string, a ...any) int {
	fmt.Fprintf(m.stderr, "Error: "+format+"\nnull\n", a...)
	return 1
}

func (m *manager) flags() *flag.FlagSet {
	flags := flag.NewFlagSet("avdmanager", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	for _, f := range []struct {
		to          *string
		short, long string
	}{{&m.name, "n", "name"}, {&m.image, "k", "package"}, {&m.device, "d", "device"}} {
		flags.StringVar(f.to, f.short, "", "")
		flags.StringVar(f.to, f.long, "", "")
	}
	flags.BoolVar(&m.force, "f", false, "")
	flags.BoolVar(&m.force, "force", false, "")
	flags.BoolVar(&m.compact, "c", false, "")
	return flags
}

func (m *manager) ini() string { return filepath.Join(m.home, m.name+".ini") }

func (m *manager) exists() bool {
	_, err := os.Stat(m.ini())
	return err == nil
}

var validName = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)

func (m *manager) create() int {
	images := installed()
	switch {
	case m.image == "":
		return m.refuse("Package path (-k) not specified. Valid system image paths are:\n%s", strings.Join(images, "\n"))
	case !slices.Contains(images, m.image):
		return m.refuse("Package path is not valid. Valid system image paths are:\n%s", strings.Join(images, "\n"))
	case !validName.MatchString(m.name):
		return m.refuse("AVD name '%s' contains invalid characters.\nAllowed characters are: a-z A-Z 0-9 . _ -", m.name)
	case m.exists() && !m.force:
		return m.refuse("Android Virtual Device '%s' already exists.\nUse --force if you want to replace it.", m.name)
	case m.device != "" && !slices.Contains(models, m.device):
		return m.refuse("No device found matching --device %s.", m.device)
	}
	if m.device == "" {
		fmt.Fprint(m.stdout, "Do you wish to create a custom hardware profile? [no] ")
		if answer, _ := bufio.NewReader(os.Stdin).ReadString('\n'); strings.TrimSpace(answer) == "yes" {
			return m.refuse("AVD not created.")
		}
	}
	dir := filepath.Join(m.home, m.name+".avd")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return m.refuse("%v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.ini"), []byte(m.config()), 0o644); err != nil {
		return m.refuse("%v", err)
	}
	if err := os.WriteFile(m.ini(), []byte("avd.ini.encoding=UTF-8\npath="+dir+"\npath.rel=avd/"+m.name+".avd\ntarget=android-34\n"), 0o644); err != nil {
		return m.refuse("%v", err)
	}
	return 0
}

// config returns the file that avdmanager writes for the AVD, with the hardware of its device
// if it has one.
func (m *manager) config() string {
	parts := strings.Split(m.image, ";")
	text := fmt.Sprintf("AvdId=%s\nPlayStore.enabled=false\nabi.type=%s\navd.ini.encoding=UTF-8\nhw.cpu.arch=%[2]s\nimage.sysdir.1=%s\ntag.display=Google APIs\ntag.id=%s\n",
		m.name, parts[3], strings.Join(parts, "/")+"/", parts[2])
	if m.device != "" {
		text += fmt.Sprintf("disk.dataPartition.size=6442450944\nhw.device.manufacturer=Google\nhw.device.name=%s\nhw.lcd.density=420\nhw.lcd.height=1920\nhw.lcd.width=1080\nhw.ramSize=1536\n", m.device)
	}
	return text
}

func (m *manager) delete() int {
	if !m.exists() {
		return m.refuse("There is no Android Virtual Device named '%s'.", m.name)
	}
	if err := os.RemoveAll(filepath.Join(m.home, m.name+".avd")); err != nil {
		return m.refuse("%v", err)
	}
	_ = os.Remove(m.ini())
	fmt.Fprintf(m.stdout, "Deleting file %s\n\nAVD '%s' deleted.\n", m.ini(), m.name)
	return 0
}

func (m *manager) list() int {
	names := names(m.home)
	if m.compact {
		for _, n := range names {
			fmt.Fprintln(m.stdout, n)
		}
		return 0
	}
	fmt.Fprintln(m.stdout, "Available Android Virtual Devices:")
	for i, n := range names {
		if i > 0 {
			fmt.Fprintln(m.stdout, "---------")
		}
		fmt.Fprintf(m.stdout, "    Name: %s\n    Path: %s\n", n, filepath.Join(m.home, n+".avd"))
	}
	return 0
}

// installed returns the system images of the SDK.
func installed() (out []string) {
	sdk := os.Getenv("ANDROID_HOME")
	found, _ := filepath.Glob(filepath.Join(sdk, "system-images", "*", "*", "*", "package.xml"))
	for _, f := range found {
		if rel, err := filepath.Rel(sdk, filepath.Dir(f)); err == nil {
			out = append(out, strings.ReplaceAll(filepath.ToSlash(rel), "/", ";"))
		}
	}
	return out
}

// home returns the folder of AVDs: $ANDROID_AVD_HOME, or .android/avd in the user's home.
func home() string {
	if dir := os.Getenv("ANDROID_AVD_HOME"); dir != "" {
		return dir
	}
	user, _ := os.UserHomeDir()
	return filepath.Join(user, ".android", "avd")
}

func names(home string) []string {
	files, _ := filepath.Glob(filepath.Join(home, "*.ini"))
	var out []string
	for _, f := range files {
		out = append(out, strings.TrimSuffix(filepath.Base(f), ".ini"))
	}
	slices.Sort(out)
	return out
}
