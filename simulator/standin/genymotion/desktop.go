package genymotion

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/standin/instance"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

// The failures of gmtool, with the exit codes of its two tables.
const (
	// DesktopOld makes it a version 2: templates, another layout, no --coldboot, and 13 for a
	// licence.
	DesktopOld         = "gmtool-old"
	DesktopNoLicense   = "gmtool-no-license"
	DesktopLoggedOut   = "gmtool-logged-out"
	DesktopNoEngine    = "gmtool-no-engine"
	DesktopStartFails  = "gmtool-start-fails" // with exit code 3
	DesktopUnstartable = "gmtool-unstartable" // with exit code 13
	DesktopFull        = "gmtool-full"        // create, with exit code 3
	DesktopUnstoppable = "gmtool-unstoppable"
	DesktopUndeletable = "gmtool-undeletable"
	DesktopBabbles     = "gmtool-babbles"
	DesktopLate        = "gmtool-late" // a started device is not On yet
)

// Machine is a virtual device of the Desktop.
type Machine struct {
	UUID    string
	Name    string
	Options []string // of its creation
}

// Running reports whether the machine is running.
func (m Machine) Running(folder state.Folder) bool { return portOf(folder, m.UUID) > 0 }

// Machines returns the virtual devices of the Desktop.
func Machines(folder state.Folder) (list []Machine, err error) {
	err = folder.Locked("desktop", func() error {
		list, err = loadMachines(folder)
		return err
	})
	return list, err
}

func loadMachines(folder state.Folder) (list []Machine, err error) {
	if err := folder.Load("desktop.json", &list); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return list, nil
}

// AddMachine adds an existing device of the user's.
func AddMachine(folder state.Folder, name string) (Machine, error) {
	m := Machine{UUID: newUUID(), Name: name}
	return m, changeMachines(folder, func(list []Machine) []Machine { return append(list, m) })
}

func changeMachines(folder state.Folder, change func([]Machine) []Machine) error {
	return folder.Locked("desktop", func() error {
		list, err := loadMachines(folder)
		if err != nil {
			return err
		}
		return folder.Save("desktop.json", change(list))
	})
}

// Profiles, Images and Templates are the sources of devices: the first two in versions 3, the
// last in versions 2.
var (
	Profiles  = []string{"Custom Phone", "Google Pixel 3", "Google Pixel 3 XL", "Samsung Galaxy S10"}
	Images    = []string{"Android 9.0", "Android 11.0", "Android 14.0"}
	Templates = []struct{ Name, Android string }{
		{"Google Nexus 5 - 5.0.0 - API 21 - 1080x1920", "5.0.0"},
		{"Google Nexus 5 - 5.1.0 - API 22 - 1080x1920", "5.1.0"},
		{"Custom Phone - 5.1.0 - API 22 - 768x1280", "5.1.0"},
	}
)

// gmtool is one call of the program.
type gmtool struct {
	folder         state.Folder
	stdout, stderr io.Writer
	old            bool
	command        string // "admin list"
}

// Desktop simulates gmtool.
func Desktop(folder state.Folder, args []string, stdout, stderr io.Writer) int {
	g := &gmtool{folder: folder, stdout: stdout, stderr: stderr, old: folder.Fails(DesktopOld)}
	if len(args) > 1 && (args[0] == "--timeout" || args[0] == "-t") {
		if n, err := strconv.Atoi(args[1]); err != nil || n < 0 || n > 3600 {
			return g.fail(2, "The timeout has to be between 0 and 3600")
		}
		args = args[2:]
	}
	switch {
	case len(args) == 1 && args[0] == "version":
		return g.version()
	case len(args) < 2:
		return g.fail(1, "No such action")
	}
	g.command = args[0] + " " + args[1]
	hold(folder, "before", g.command)
	return g.do(args[2:])
}

func (g *gmtool) version() int {
	if g.old {
		fmt.Fprint(g.stdout, "Version  : 2.9.0\nRevision : 20170101-0a1b2c3d4e\n")
		return 0
	}
	fmt.Fprint(g.stdout, "Version  : 3.9.0\nRevision : 20260101-0a1b2c3d4e\n")
	return 0
}

func (g *gmtool) do(args []string) int {
	commands := map[string]func([]string) int{
		"admin list": g.list, "admin create": g.create, "admin start": g.start,
		"admin stop": g.stop, "admin delete": g.delete, "license info": g.license,
	}
	if g.old {
		commands["admin templates"] = g.templates
	} else {
		commands["admin hwprofiles"] = g.names("Hardware profile", Profiles)
		commands["admin osimages"] = g.names("Android image", Images)
	}
	do, known := commands[g.command]
	switch {
	case !known:
		return g.fail(1, "No such action: "+g.command)
	case g.folder.Fails(DesktopBabbles):
		fmt.Fprintln(g.stdout, "\x1b[2JSomething | else")
		return 0
	case g.folder.Fails(DesktopNoEngine):
		return g.fail(4, "The virtualization engine does not respond")
	}
	return do(args)
}

// paid checks for a licence, which all commands but list, start and stop need (since 3.2).
func (g *gmtool) paid() int {
	switch {
	case g.folder.Fails(DesktopLoggedOut):
		return g.fail(6, "Unable to sign in: check your e-mail and password")
	case !g.folder.Fails(DesktopNoLicense):
		return 0
	case g.old:
		return g.fail(13, "This feature requires a license")
	}
	return g.fail(14, "This command requires a paid license")
}

func (g *gmtool) list(args []string) int {
	machines, err := Machines(g.folder)
	if err != nil {
		return g.broken(err)
	}
	state, width := " State    ", 9
	if g.old {
		state, width = " State  ", 7
	}
	fmt.Fprintf(g.stdout, "%s|   ADB Serial    |                UUID                |      Name\n", state)
	fmt.Fprintf(g.stdout, "%s+-----------------+------------------------------------+---------------\n", strings.Repeat("-", len(state)))
	late := g.folder.Fails(DesktopLate)
	for _, m := range machines {
		is, serial := "Off", ""
		if g.old {
			serial = "0.0.0.0"
		}
		if port := portOf(g.folder, m.UUID); port > 0 && late {
			is = "Starting"
		} else if port > 0 {
			is, serial = "On", "127.0.0.1:"+strconv.Itoa(port)
		}
		if slices.Contains(args, "--running") && is == "Off" || slices.Contains(args, "--off") && is != "Off" {
			continue
		}
		fmt.Fprintf(g.stdout, "%*s | %15s |%s| %s\n", width, is, serial, m.UUID, m.Name)
	}
	return 0
}

// names prints a list of newer versions. Their real format is not known.
func (g *gmtool) names(head string, names []string) func([]string) int {
	return func([]string) int {
		if code := g.paid(); code != 0 {
			return code
		}
		fmt.Fprintln(g.stdout, head)
		for _, n := range names {
			fmt.Fprintln(g.stdout, n)
		}
		return 0
	}
}

func (g *gmtool) templates([]string) int {
	if code := g.paid(); code != 0 {
		return code
	}
	for i, t := range Templates {
		fmt.Fprintf(g.stdout, "Name                  : %s\nUUID                  : 0a0b0c0d-0000-4000-8000-%012d\nAndroid Version       : %s\nNb CPU                : 2\n\n", t.Name, i, t.Android)
	}
	return 0
}

func (g *gmtool) create(args []string) int {
	if code := g.paid(); code != 0 {
		return code
	}
	words, options := split(args)
	from := 2
	if g.old {
		from = 1
	}
	switch {
	case len(words) != from+1:
		return g.fail(11, "Missing arguments")
	case g.old && !slices.ContainsFunc(Templates, func(t struct{ Name, Android string }) bool { return t.Name == words[0] }),
		!g.old && (!slices.Contains(Profiles, words[0]) || !slices.Contains(Images, words[1])):
		return g.fail(2, "No template, hardware profile or image has that name")
	case g.folder.Fails(DesktopFull):
		return g.fail(3, "Failed to create the virtual device: no space left on the disk")
	}
	for _, o := range options {
		name, value, _ := strings.Cut(o, "=")
		if n, err := strconv.Atoi(value); err != nil || n < 1 || !slices.Contains([]string{"--width", "--height", "--density", "--nbcpu", "--ram"}, name) {
			return g.fail(2, "Wrong value of "+o)
		}
	}
	fmt.Fprintf(g.stdout, "Creating %s...\nCreating virtual device...\n", words[from])
	m := Machine{UUID: newUUID(), Name: words[from], Options: append(words[:from:from], options...)}
	if err := changeMachines(g.folder, func(list []Machine) []Machine { return append(list, m) }); err != nil {
		return g.broken(err)
	}
	hold(g.folder, "after", g.command)
	fmt.Fprintln(g.stdout, "Virtual device created successfully")
	return 0
}

func split(args []string) (words, options []string) {
	for _, a := range args {
		if strings.HasPrefix(a, "-") {
			options = append(options, a)
		} else {
			words = append(words, a)
		}
	}
	return words, options
}

func (g *gmtool) start(args []string) int {
	words, options := split(args)
	for _, o := range options {
		if g.old || o != "--coldboot" {
			return g.fail(2, fmt.Sprintf("Unknown option '%s'.", strings.TrimLeft(o, "-")))
		}
	}
	m, code := g.find(words)
	if code != 0 {
		return code
	}
	fmt.Fprintln(g.stderr, `[Warning] [getSavedHostOnlyInterface] Checking "vboxnet0" interface status`)
	switch {
	case g.folder.Fails(DesktopStartFails):
		return g.fail(3, "Failed to launch virtual device: "+m.Name)
	case g.folder.Fails(DesktopUnstartable):
		return g.fail(13, "Unable to start the virtual device")
	}
	r, err := instance.Detach(g.folder, instance.Spec{Name: m.UUID})
	if err != nil {
		return g.broken(err)
	}
	hold(g.folder, "halfway", g.command)
	settings, err := g.folder.Settings()
	if err != nil {
		return g.broken(err)
	}
	time.Sleep(time.Duration(float64(settings.Boots) / settings.Rate))
	_, _ = instance.Connect("127.0.0.1:" + strconv.Itoa(r.ADB)) // best effort: the port is open
	hold(g.folder, "after", g.command)
	return 0
}

func (g *gmtool) stop(args []string) int {
	m, code := g.find(args)
	if code != 0 {
		return code
	}
	if g.folder.Fails(DesktopUnstoppable) {
		return g.fail(12, "Unable to stop the virtual device")
	}
	if err := instance.End(g.folder, m.UUID, endPatience); err != nil {
		return g.broken(err)
	}
	hold(g.folder, "after", g.command)
	return 0
}

func (g *gmtool) delete(args []string) int {
	if code := g.paid(); code != 0 {
		return code
	}
	m, code := g.find(args)
	if code != 0 {
		return code
	}
	if m.Running(g.folder) || g.folder.Fails(DesktopUndeletable) {
		return g.fail(3, "Failed to delete the virtual device")
	}
	err := changeMachines(g.folder, func(list []Machine) []Machine {
		return slices.DeleteFunc(list, func(other Machine) bool { return other.UUID == m.UUID })
	})
	if err != nil {
		return g.broken(err)
	}
	return 0
}

func (g *gmtool) license([]string) int {
	if g.folder.Fails(DesktopNoLicense) {
		return g.fail(9, "No license is activated")
	}
	fmt.Fprint(g.stdout, "License Type             : Business\nActivated Workstations   : 1\nLicense Server           : off\n")
	return 0
}

// find returns the device that the arguments name.
func (g *gmtool) find(args []string) (Machine, int) {
	if len(args) != 1 {
		return Machine{}, g.fail(11, "Missing arguments")
	}
	machines, err := Machines(g.folder)
	if err != nil {
		return Machine{}, g.broken(err)
	}
	i := slices.IndexFunc(machines, func(m Machine) bool { return m.Name == args[0] })
	if i < 0 {
		return Machine{}, g.fail(5, "The virtual device was not found: "+args[0])
	}
	return machines[i], 0
}

func (g *gmtool) fail(code int, why string) int {
	fmt.Fprintln(g.stderr, why)
	return code
}

// broken reports an error of the stand-in itself.
func (g *gmtool) broken(err error) int { return g.fail(126, "gmtool stand-in: "+err.Error()) }
