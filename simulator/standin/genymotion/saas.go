package genymotion

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/standin/instance"
	"github.com/apkgate/apkgate/simulator/standin/state"
)

// The failures of gmsaas, by its sources (errors.py, saas/client.py).
const (
	SaaSLoggedOut = "gmsaas-logged-out"
	SaaSBadToken  = "gmsaas-bad-token"
	SaaSNoSDK     = "gmsaas-no-sdk"
	// SaaSWantsToken makes it require a token in the environment.
	SaaSWantsToken   = "gmsaas-wants-token"
	SaaSOffline      = "gmsaas-offline"
	SaaSProxy        = "gmsaas-proxy"
	SaaSQuota        = "gmsaas-quota"
	SaaSLicense      = "gmsaas-license"
	SaaSOutOfOrder   = "gmsaas-out-of-order"
	SaaSOtherDaemon  = "gmsaas-other-daemon"
	SaaSStartTooSlow = "gmsaas-start-too-slow"
	SaaSStartError   = "gmsaas-start-error"
	SaaSPortBusy     = "gmsaas-port-busy"
	SaaSTunnel       = "gmsaas-tunnel"
	SaaSOtherPort    = "gmsaas-other-port"
	SaaSStopTooSlow  = "gmsaas-stop-too-slow"
	// SaaSOldConnect makes adbconnect print nothing, and SaaSOldStart makes it lack
	// --max-run-duration.
	SaaSOldConnect = "gmsaas-old-connect"
	SaaSOldStart   = "gmsaas-old-start"
	// SaaSWarns prints warnings of Python's libraries before every answer.
	SaaSWarns = "gmsaas-warns"
	// SaaSBreaks makes it print a traceback, SaaSBabbles something other than JSON, SaaSSilent
	// nothing at all.
	SaaSBreaks  = "gmsaas-breaks"
	SaaSBabbles = "gmsaas-babbles"
	SaaSSilent  = "gmsaas-silent"
)

// CloudInstance is an instance of the cloud.
type CloudInstance struct {
	UUID      string
	Name      string
	State     string
	Recipe    CloudRecipe
	Connected bool
	Minutes   int // its --max-run-duration, 0 for none
}

// CloudRecipe is a recipe for an instance.
type CloudRecipe struct {
	UUID    string `json:"uuid"`
	Name    string `json:"name"`
	Android string `json:"android_version"`
	Width   int    `json:"screen_width"`
	Height  int    `json:"screen_height"`
	Density int    `json:"screen_density"`
	Screen  string `json:"screen"`
	Source  string `json:"source"`
}

func cloudRecipe(n int, name, android string, width, height, density int) CloudRecipe {
	uuid := fmt.Sprintf("0a0b0c0d-0000-4000-8000-%012d", n)
	return CloudRecipe{uuid, name, android, width, height, density, fmt.Sprintf("%d x %d dpi %d", width, height, density), "genymotion"}
}

// CloudRecipes are the account's recipes. Two differ only in their UUID, as an owned one and
// the vendor's may.
var CloudRecipes = []CloudRecipe{
	cloudRecipe(1, "Google Pixel 3", "9.0", 1080, 2160, 440),
	cloudRecipe(2, "Google Pixel 3", "11.0", 1080, 2160, 440),
	cloudRecipe(3, "Google Pixel 3 XL", "11.0", 1440, 2960, 560),
	cloudRecipe(4, "Custom Tablet", "12.0", 1600, 2560, 320),
	cloudRecipe(5, "Custom Tablet", "12.0", 1600, 2560, 320),
}

// Cloud returns the account's instances that the platform lists.
func Cloud(folder state.Folder) (list []CloudInstance, err error) {
	err = folder.Locked("saas", func() error {
		list, err = loadCloud(folder)
		return err
	})
	return list, err
}

// loadCloud reads the instances, except for those whose phone was killed.
func loadCloud(folder state.Folder) (list []CloudInstance, err error) {
	if err := folder.Load("saas.json", &list); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return slices.DeleteFunc(list, func(i CloudInstance) bool {
		return i.State == "ONLINE" && portOf(folder, i.UUID) == 0
	}), nil
}

// gmsaas is one call of the program.
type gmsaas struct {
	folder         state.Folder
	stdout, stderr io.Writer
	indent         bool
	command        string // "instances start"
}

// SaaS simulates gmsaas.
func SaaS(folder state.Folder, args []string, stdout, stderr io.Writer) int {
	g := &gmsaas{folder: folder, stdout: stdout, stderr: stderr}
	if len(args) == 4 && args[0] == "config" && args[1] == "set" { // as typed by a person or a workflow
		fmt.Fprintf(stdout, "'%s' has been set to '%s'.\n", args[2], args[3])
		return 0
	}
	if len(args) < 3 || args[0] != "--format" || !slices.Contains([]string{"json", "compactjson"}, args[1]) {
		return g.usage("", "No such option or command: "+strings.Join(args, " ")) // only JSON output is simulated
	}
	g.indent = args[1] == "json"
	if folder.Fails(SaaSWarns) {
		fmt.Fprintln(stderr, "/usr/lib/python3/dist-packages/urllib3/__init__.py:35: NotOpenSSLWarning: urllib3 v2 only supports OpenSSL 1.1.1+")
		fmt.Fprintln(stdout, "{'a': 'warning'}")
	}
	args = args[2:]
	if args[0] == "--version" {
		return g.print(map[string]any{"name": "gmsaas", "version": "1.14.0", "documentation_url": "https://docs.genymotion.com/gmsaas", "changelog_url": "https://pypi.org/project/gmsaas/"})
	}
	if len(args) < 2 {
		return g.usage("", "Missing command.")
	}
	g.command = args[0] + " " + args[1]
	hold(folder, "before", g.command)
	return g.do(args[2:])
}

func (g *gmsaas) do(args []string) int {
	if code, met := g.trouble(); met {
		return code
	}
	commands := map[string]struct {
		arguments int
		do        func(args []string) int
	}{
		"instances list":       {0, g.list},
		"instances get":        {1, g.get},
		"instances start":      {2, g.start},
		"instances stop":       {1, g.stop},
		"instances adbconnect": {1, g.connect},
		"recipes list":         {0, g.recipes},
	}
	c, known := commands[g.command]
	if !known {
		return g.usage("", fmt.Sprintf("No such command '%s'.", g.command))
	}
	if len(args) < c.arguments {
		return g.usage(g.command, "Missing argument.")
	}
	if uuid := g.command != "recipes list" && c.arguments > 0; uuid && !uuidForm.MatchString(args[0]) {
		return g.usage(g.command, fmt.Sprintf("Invalid value for 'UUID': '%s' is not a valid UUID.", args[0]))
	}
	return c.do(args)
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// trouble checks for failures common to all commands.
func (g *gmsaas) trouble() (code int, met bool) {
	// start is the only command that does not need the Android SDK (cli/instances.py).
	starts := g.command == "instances start"
	switch {
	case g.folder.Fails(SaaSBreaks):
		fmt.Fprint(g.stderr, "Traceback (most recent call last):\n  File \"gmsaas\", line 5, in <module>\nModuleNotFoundError: No module named 'click'\n")
		return 1, true
	case g.folder.Fails(SaaSBabbles):
		fmt.Fprintln(g.stdout, "\x1b[31mHello\x1b[0m {\"instances\": 5}")
		return 0, true
	case g.folder.Fails(SaaSSilent):
		return 0, true
	case g.folder.Fails(SaaSLoggedOut), os.Getenv("GENYMOTION_API_TOKEN") == "" && g.folder.Fails(SaaSWantsToken):
		return g.fail(6, "CONFIGURATION_ERROR", "Error: no authentication set. Create an API Token on https://cloud.geny.io/api and use `gmsaas auth token` in order to authenticate.", ""), true
	case !starts && g.command != "recipes list" && g.folder.Fails(SaaSNoSDK):
		return g.fail(6, "CONFIGURATION_ERROR", "Error: no Android SDK path set. To set it up, use 'gmsaas config set android-sdk-path <path>'.", ""), true
	case g.folder.Fails(SaaSBadToken):
		return g.refuse(401, `{"code":"INVALID_TOKEN","message":"the token `+os.Getenv("GENYMOTION_API_TOKEN")+` is not valid"}`), true
	case g.folder.Fails(SaaSOffline):
		return g.fail(15, "REQUEST_ERROR", "Error: no network connection", "HTTPSConnectionPool(host='api.geny.io', port=443): Max retries exceeded"), true
	case g.folder.Fails(SaaSProxy):
		return g.fail(15, "REQUEST_ERROR", "Error: unable to use the proxy", "HTTPSConnectionPool: Cannot connect to proxy."), true
	case g.folder.Fails(SaaSOutOfOrder):
		return g.refuse(503, "<html>Service Unavailable</html>"), true
	case g.folder.Fails(SaaSOtherDaemon):
		return g.fail(8, "COMPATIBILITY_ERROR", "Error: incompatible version numbers.\ngmadbtunneld version is '1.2.0'.\ngmsaas version is '1.14.0'.\nPlease use same version numbers, or kill 'gmadbtunneld'.", ""), true
	}
	return 0, false
}

func (g *gmsaas) list([]string) int {
	list, err := Cloud(g.folder)
	if err != nil {
		return g.broken(err)
	}
	shown := []any{}
	for _, i := range list {
		shown = append(shown, g.shown(i))
	}
	return g.print(map[string]any{"instances": shown})
}

func (g *gmsaas) get(args []string) int {
	i, ok, err := g.find(args[0])
	if err != nil {
		return g.broken(err)
	}
	if !ok {
		return g.refuse(404, `{"code":"INSTANCE_NOT_FOUND","message":"not found"}`)
	}
	return g.print(map[string]any{"instance": g.shown(i)})
}

func (g *gmsaas) recipes([]string) int {
	return g.print(map[string]any{"recipes": CloudRecipes})
}

// start creates an instance. After a failure the created instance stays.
func (g *gmsaas) start(args []string) int {
	minutes, err := g.startOptions(args[2:])
	if err != nil {
		return g.usage(g.command, err.Error())
	}
	k := slices.IndexFunc(CloudRecipes, func(r CloudRecipe) bool { return r.UUID == args[0] })
	switch {
	case k < 0:
		return g.refuse(404, `{"code":"RECIPE_NOT_FOUND","message":"no such recipe"}`)
	case g.folder.Fails(SaaSQuota):
		return g.refuse(403, `{"code":"TOO_MANY_RUNNING_VDS","message":"too many of them run"}`)
	case g.folder.Fails(SaaSLicense):
		return g.refuse(403, `{"code":"LICENSE_EXPIRED","message":"it has expired"}`)
	}
	i := CloudInstance{UUID: newUUID(), Name: args[1], State: "CREATING", Recipe: CloudRecipes[k], Minutes: minutes}
	if err := g.save(i); err != nil {
		return g.broken(err)
	}
	hold(g.folder, "halfway", g.command)
	if g.folder.Fails(SaaSStartError) {
		i.State = "ERROR"
		return g.notStarted(i, "failed to start, please check its state with 'gmsaas instances list'")
	}
	if g.folder.Fails(SaaSStartTooSlow) {
		i.State = "BOOTING"
		return g.notStarted(i, "did not start in time, please check its state with 'gmsaas instances list'")
	}
	if err := g.boot(&i); err != nil {
		return g.broken(err)
	}
	hold(g.folder, "after", g.command)
	return g.print(map[string]any{"instance": g.shown(i)})
}

func (g *gmsaas) notStarted(i CloudInstance, how string) int {
	if err := g.save(i); err != nil {
		return g.broken(err)
	}
	return g.fail(10, "INSTANCE_ERROR", fmt.Sprintf("Error: instance '%s' %s", i.UUID, how), fmt.Sprintf("Instance '%s' expects to be 'ONLINE' but reached '%s'", i.UUID, i.State))
}

func (g *gmsaas) startOptions(args []string) (minutes int, err error) {
	inactive := false
	for len(args) > 0 {
		switch {
		case args[0] == "--stop-when-inactive":
			inactive, args = true, args[1:]
		case args[0] == "--max-run-duration" && len(args) > 1 && !g.folder.Fails(SaaSOldStart):
			minutes, err = strconv.Atoi(args[1])
			if err != nil || minutes < 0 || minutes > 28800 {
				//lint:ignore ST1005 these are the words of the program
				return 0, fmt.Errorf("Invalid value for '--max-run-duration': %s is not in the range 0<=x<=28800.", args[1])
			}
			args = args[2:]
		default:
			//lint:ignore ST1005 these are the words of the program
			return 0, fmt.Errorf("No such option: %s", args[0])
		}
	}
	if inactive && minutes > 0 {
		//lint:ignore ST1005 these are the words of the program
		return 0, errors.New("Options '--stop-when-inactive' and '--max-run-duration' are mutally exclusives.")
	}
	return minutes, nil
}

// boot starts the instance's phone, and waits until it has booted.
func (g *gmsaas) boot(i *CloudInstance) error {
	settings, err := g.folder.Settings()
	if err != nil {
		return err
	}
	if _, err := instance.Detach(g.folder, instance.Spec{Name: i.UUID}); err != nil {
		return err
	}
	time.Sleep(time.Duration(float64(settings.Boots) / settings.Rate))
	i.State = "ONLINE"
	return g.save(*i)
}

func (g *gmsaas) stop(args []string) int {
	i, ok, err := g.find(args[0])
	if err != nil {
		return g.broken(err)
	}
	if !ok {
		return g.refuse(404, `{"code":"INSTANCE_NOT_FOUND","message":"not found"}`)
	}
	if g.folder.Fails(SaaSStopTooSlow) {
		return g.fail(10, "INSTANCE_ERROR", fmt.Sprintf("Error: instance '%s' did not stop in time, please check its state with 'gmsaas instances list'", i.UUID), fmt.Sprintf("Instance '%s' expects to be 'DELETED' but reached 'ONLINE'", i.UUID))
	}
	if err := instance.End(g.folder, i.UUID, endPatience); err != nil {
		return g.broken(err)
	}
	i.State = "DELETED"
	if err := g.save(i); err != nil {
		return g.broken(err)
	}
	hold(g.folder, "after", g.command)
	return g.print(map[string]any{"instance": g.shown(i)})
}

func (g *gmsaas) connect(args []string) int {
	i, ok, err := g.find(args[0])
	if err != nil {
		return g.broken(err)
	}
	switch {
	case !ok:
		return g.fail(14, "ADBTUNNEL_INSTANCE_NOT_READY", fmt.Sprintf("Error: instance '%s' does not exist.", args[0]), "")
	case i.State != "ONLINE":
		return g.fail(14, "ADBTUNNEL_INSTANCE_NOT_READY", fmt.Sprintf("Error: instance '%s' is not started yet.", i.UUID), "")
	case g.folder.Fails(SaaSPortBusy):
		return g.fail(11, "ADBTUNNEL_BUSY_PORT_ERROR", fmt.Sprintf("Failed to connect instance '%s' to ADB. Port '5555' is not available.", i.UUID), "Port 5555 is occupied by another process.")
	case g.folder.Fails(SaaSTunnel):
		return g.fail(12, "ADBTUNNEL_TIMEOUT_ERROR", fmt.Sprintf("Failed to connect instance '%s' to ADB in time. Operation aborted.", i.UUID), "")
	}
	i.Connected = true
	if err := g.save(i); err != nil {
		return g.broken(err)
	}
	_, _ = instance.Connect("localhost:" + strconv.Itoa(portOf(g.folder, i.UUID))) // best effort: the port is open
	hold(g.folder, "after", g.command)
	switch {
	case g.folder.Fails(SaaSOtherPort):
		return g.fail(13, "ADBTUNNEL_DIFFERENT_PORT_ERROR", fmt.Sprintf("Instance already connected to ADB Tunnel on port '%d'.", portOf(g.folder, i.UUID)), "")
	case g.folder.Fails(SaaSOldConnect):
		return 0
	}
	return g.print(map[string]any{"instance": g.shown(i)})
}

func (g *gmsaas) find(uuid string) (CloudInstance, bool, error) {
	list, err := Cloud(g.folder)
	if err != nil {
		return CloudInstance{}, false, err
	}
	k := slices.IndexFunc(list, func(i CloudInstance) bool { return i.UUID == uuid })
	if k < 0 {
		return CloudInstance{}, false, nil
	}
	return list[k], true, nil
}

// save replaces the state of an instance, or removes that of a deleted one.
func (g *gmsaas) save(i CloudInstance) error {
	return g.folder.Locked("saas", func() error {
		list, err := loadCloud(g.folder)
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(other CloudInstance) bool { return other.UUID == i.UUID })
		if i.State != "DELETED" {
			list = append(list, i)
		}
		return g.folder.Save("saas.json", list)
	})
}

// shown returns an instance as it is printed.
func (g *gmsaas) shown(i CloudInstance) map[string]any {
	tunnel, serial, port := "DISCONNECTED", "0.0.0.0", 0
	if i.Connected && i.State == "ONLINE" {
		port = portOf(g.folder, i.UUID)
		tunnel, serial = "CONNECTED", "localhost:"+strconv.Itoa(port)
	}
	return map[string]any{
		"uuid": i.UUID, "name": i.Name, "state": i.State, "adbtunnel_state": tunnel,
		"adb_serial": serial, "adb_serial_port": port, "recipe": i.Recipe,
	}
}

func (g *gmsaas) print(answer map[string]any) int {
	answer["exit_code"], answer["exit_code_desc"] = 0, "NO_ERROR"
	g.write(g.stdout, answer)
	return 0
}

func (g *gmsaas) fail(code int, name, message, details string) int {
	g.write(g.stderr, map[string]any{"error": map[string]string{"message": message, "details": details}, "exit_code": code, "exit_code_desc": name})
	return code
}

// refuse reports a refusal of the platform.
func (g *gmsaas) refuse(status int, body string) int {
	return g.fail(4, "API_ERROR", fmt.Sprintf("API return unexpected code: %d. Error: %s", status, body), "")
}

func (g *gmsaas) write(w io.Writer, answer map[string]any) {
	encoder := json.NewEncoder(w)
	if g.indent {
		encoder.SetIndent("", "    ")
	}
	_ = encoder.Encode(answer)
}

// usage reports click's usage error, in every format.
func (g *gmsaas) usage(command, why string) int {
	name := strings.TrimSpace("gmsaas " + command)
	fmt.Fprintf(g.stderr, "Usage: %s [OPTIONS] COMMAND [ARGS]...\nTry '%s --help' for help.\n\nError: %s\n", name, name, why)
	return 2
}

// broken reports an error of the stand-in itself.
func (g *gmsaas) broken(err error) int {
	fmt.Fprintln(g.stderr, "gmsaas stand-in:", err)
	return 126
}
