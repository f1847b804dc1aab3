// Package avd is what the stand-ins play of Android's SDK: avdmanager and the emulator.
//
// It owns what the two print and which files they leave, as they do (the tools' own
// sources); the phone behind an emulator is package instance's. It takes a stand: an
// option that it does not know is refused, as the real ones refuse it, so that a command
// line that only a stand-in understands passes no test.
package avd

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/standin/state"
)

// Manager plays avdmanager.
func Manager(folder state.Folder, args []string, stdout, stderr io.Writer) int {
	refuse := func(format string, a ...any) int {
		fmt.Fprintf(stderr, "Error: "+format+"\nnull\n", a...)
		return 1
	}
	if len(args) < 2 {
		return refuse("A verb and an object are wanted.")
	}
	flags := flag.NewFlagSet("avdmanager", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var name, image, device string
	var force, compact bool
	for _, n := range []string{"n", "name"} {
		flags.StringVar(&name, n, "", "")
	}
	for _, n := range []string{"k", "package"} {
		flags.StringVar(&image, n, "", "")
	}
	for _, n := range []string{"d", "device"} {
		flags.StringVar(&device, n, "", "")
	}
	flags.BoolVar(&force, "f", false, "")
	flags.BoolVar(&force, "force", false, "")
	flags.BoolVar(&compact, "c", false, "")
	if err := flags.Parse(args[2:]); err != nil {
		return refuse("%v", err)
	}
	home := home()
	ini := filepath.Join(home, name+".ini")
	exists := func() bool { _, err := os.Stat(ini); return err == nil }
	switch strings.Join(args[:2], " ") {
	case "create avd":
		if exists() && !force {
			return refuse("Android Virtual Device '%s' already exists.\nUse --force if you want to replace it.", name)
		}
		dir := filepath.Join(home, name+".avd")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return refuse("%v", err)
		}
		system := strings.ReplaceAll(image, ";", "/") + "/"
		config := fmt.Sprintf("AvdId=%s\nabi.type=x86_64\nhw.device.name=%s\nimage.sysdir.1=%s\n", name, device, system)
		if err := os.WriteFile(filepath.Join(dir, "config.ini"), []byte(config), 0o644); err != nil {
			return refuse("%v", err)
		}
		if err := os.WriteFile(ini, []byte("avd.ini.encoding=UTF-8\npath="+dir+"\n"), 0o644); err != nil {
			return refuse("%v", err)
		}
		return 0
	case "delete avd":
		if !exists() {
			return refuse("There is no Android Virtual Device named '%s'.", name)
		}
		if err := os.RemoveAll(filepath.Join(home, name+".avd")); err != nil {
			return refuse("%v", err)
		}
		_ = os.Remove(ini)
		fmt.Fprintf(stdout, "Deleting file %s\n\nAVD '%s' deleted.\n", ini, name)
		return 0
	case "list avd":
		names := names(home)
		if compact {
			for _, n := range names {
				fmt.Fprintln(stdout, n)
			}
			return 0
		}
		fmt.Fprintln(stdout, "Available Android Virtual Devices:")
		for i, n := range names {
			if i > 0 {
				fmt.Fprintln(stdout, "---------")
			}
			fmt.Fprintf(stdout, "    Name: %s\n    Path: %s\n", n, filepath.Join(home, n+".avd"))
		}
		return 0
	}
	return refuse("%q is not known.", args[:2])
}

// home is where AVDs are: $ANDROID_AVD_HOME, or .android/avd of the user's home.
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
