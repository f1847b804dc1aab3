package phone

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/profile"
	"github.com/apkgate/apkgate/trace/perfetto/slices"
)

// The range of API levels in the table of commands.
const firstAPI, lastAPI = 24, 36

// works is the table's cell for whether a command works on a phone.
func works(yes bool) string {
	if yes {
		return "✓"
	}
	return "✗"
}

// differs is the cell for a command that works, or works differently in a known way.
func differs(yes bool) string {
	if yes {
		return "✓"
	}
	return "~"
}

// ends probes that a command succeeds.
func ends(command string) func(*testing.T, *Phone) string {
	return func(t *testing.T, p *Phone) string {
		_, _, code := run(t, p, command)
		return works(code == 0)
	}
}

// says probes that a command prints a text.
func says(command, text string) func(*testing.T, *Phone) string {
	return func(t *testing.T, p *Phone) string {
		out, _, _ := run(t, p, command)
		return works(strings.Contains(out, text))
	}
}

// tells probes that the kernel's recording contains something.
func tells(of func(recording) bool) func(*testing.T, *Phone) string {
	return func(t *testing.T, p *Phone) string { return works(of(recordKernel(t, p))) }
}

// least is a minimal recording.
const least = "buffers { size_kb: 64 } data_sources { config { name: \"linux.process_stats\" } }"

// probes determine the cells of the table in docs/collection/commands.md for a phone, by the
// row's first column.
var probes = map[string]func(*testing.T, *Phone) string{
	"`cat /proc/sys/kernel/random/boot_id /proc/uptime`": ends("cat /proc/sys/kernel/random/boot_id /proc/uptime"),
	"`pidof`, `cat /proc/PID/stat /proc/PID/status`":     opened(says("cat /proc/$(pidof com.example.still)/status", "VmRSS")),
	"`logcat -v monotonic -v uid`":                       ends("logcat -d -v monotonic -v uid"),
	"`logcat -T TIME`":                                   ends("logcat -d -T '01-05 09:00:00.000'"),
	"`logcat -G 16M`":                                    ends("logcat -G 16M -b main -b system -b events"),
	"`cmd package compile -m verify`": func(t *testing.T, p *Phone) string {
		_, _, code := run(t, p, "cmd package compile -m verify -f com.example.still")
		return differs(code == 0)
	},
	"`cmd package compile -m speed-profile`, `speed`": func(t *testing.T, p *Phone) string {
		s := start(p, "cmd package compile -m speed-profile -f com.example.still && cmd package compile -m speed -f com.example.still")
		return works(finish(t, p, s) == 0)
	},
	"`perfetto --txt -c -`": ends("echo '" + least + "' | perfetto --txt -c - -o " + kernelTrace + " --background"),
	"`perfetto --background-wait`": func(t *testing.T, p *Phone) string {
		_, _, code := run(t, p, "echo '"+least+"' | perfetto --txt -c - -o "+kernelTrace+" --background-wait")
		return differs(code == 0)
	},
	"`setprop persist.traced.enable 1`": ends("setprop persist.traced.enable 1"),
	"`android.surfaceflinger.frametimeline`": func(t *testing.T, p *Phone) string {
		pid := strings.TrimSpace(output(t, p, "echo 'buffers { size_kb: 8192 } data_sources { config { name: \"android.surfaceflinger.frametimeline\" } }' | perfetto --txt -c - -o "+kernelTrace+" --background"))
		start(p, instrument)
		pass(t, p, 7*time.Second)
		output(t, p, "kill "+pid)
		pass(t, p, time.Second)
		return works(len(output(t, p, "cat "+kernelTrace)) > 10_000) // bytes
	},
	"`sched/sched_waking`, as sold":                   tells(func(r recording) bool { return r.sched.Wakings > 0 }),
	"`sched/sched_wakeup`, as sold":                   tells(func(r recording) bool { return r.sched.Wakeups > 0 }),
	"`atrace_apps` of an app that is not profileable": tells(func(r recording) bool { return hasSlice(r.slices, "com.example.still.Json.parse") }),
	"`kill -3` by `run-as`, debug builds":             opened(ends("run-as com.example.still kill -3 $(pidof com.example.still)")),
	"what that writes, read by the shell": opened(func(t *testing.T, p *Phone) string {
		output(t, p, "run-as com.example.still kill -3 $(pidof com.example.still)")
		pass(t, p, 2*time.Second)
		out, _, _ := run(t, p, "cat /data/anr/trace_00 || cat /data/anr/traces.txt")
		return works(strings.Contains(out, `"main" prio=5`))
	}),
	"`dumpsys activity exit-info`":                   says("dumpsys activity exit-info com.example.still", "EXIT INFO"),
	"the calls through binder that are not answered": ends("cat /dev/binderfs/binder_logs/transactions || cat /sys/kernel/debug/binder/transactions"),
	"`setprop perf.drop_caches 3`":                   ends("setprop perf.drop_caches 3"),
	"`pm bg-dexopt-job --disable`":                   says("pm bg-dexopt-job --disable", "Background dexopt job disabled"),
	"`dumpsys thermalservice`":                       says("dumpsys thermalservice", "Thermal Status"),
	"`/sys/class/power_supply/battery/current_now`": func(t *testing.T, p *Phone) string {
		_, _, code := run(t, p, "cat /sys/class/power_supply/battery/current_now")
		return differs(code == 0)
	},
	"`simpleperf`": func(t *testing.T, p *Phone) string {
		_, _, code := run(t, p, "simpleperf --help")
		return works(code != 127) // the shell's exit code for a missing command
	},
	"`dumpsys gfxinfo PKG framestats`": opened(says("dumpsys gfxinfo com.example.still framestats", "---PROFILEDATA---")),
	"`dumpsys graphicsstats`":          ends("dumpsys graphicsstats"),
	"`wm dismiss-keyguard`":            ends("wm dismiss-keyguard"),
	"`am start -W` tells `LaunchState`": func(t *testing.T, p *Phone) string {
		s := start(p, "am start -W -n com.example.still/.MainActivity")
		finish(t, p, s)
		return differs(strings.Contains(s.out.String(), "LaunchState: COLD"))
	},
	"`dumpsys sensorservice --proto`": func(t *testing.T, p *Phone) string {
		out, _, _ := run(t, p, "dumpsys sensorservice --proto")
		return works(!strings.Contains(out, "Sensor Device") && out != "")
	},
}

// opened is a probe of a running app.
func opened(probe func(*testing.T, *Phone) string) func(*testing.T, *Phone) string {
	return func(t *testing.T, p *Phone) string {
		finish(t, p, start(p, "am start -W -n com.example.still/.MainActivity"))
		pass(t, p, time.Second)
		return probe(t, p)
	}
}

func hasSlice(r *slices.Reader, name string) bool {
	for _, s := range r.Slices.Rows {
		if r.Names[s.Name] == name {
			return true
		}
	}
	return false
}

// release are the names of Android versions, by API level.
var release = []string{"7.0", "7.1", "8.0.0", "8.1.0", "9", "10", "11", "12", "12", "13", "14", "15", "16"}

// The simulated user build of each Android from 7 to 16 behaves as docs/collection/commands.md
// documents for each command. A cell with "–" is for a command that is not sent there, one
// with "?" for one without a source.
func TestCommandsOfEachVersion(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/collection/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 2+lastAPI-firstAPI+1 || !strings.HasPrefix(cells[0], "| ") {
			continue
		}
		name := strings.TrimPrefix(cells[0], "| ")
		probe := probes[name]
		if probe == nil {
			if name != "command" && !strings.HasPrefix(name, "--") {
				t.Errorf("%s: no test finds out what a phone does", name)
			}
			continue
		}
		found[name] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for api := firstAPI; api <= lastAPI; api++ {
				cell := cells[1+api-firstAPI]
				if cell == "–" || cell == "?" {
					continue
				}
				if got := probe(t, sold(t, api, name)); got != cell {
					t.Errorf("API level %d: the phone says %s, the document %s", api, got, cell)
				}
			}
		})
	}
	for name := range probes {
		if !found[name] {
			t.Errorf("docs/collection/commands.md has no row of %s", name)
		}
	}
}

// sold returns a user build of that Android with an app, which is debuggable if the row says
// so.
func sold(t *testing.T, api int, row string) *Phone {
	t.Helper()
	pr, err := profile.Find("pixel-2-android-8.1.0")
	if err != nil {
		t.Fatal(err)
	}
	pr.API, pr.SDK = api, release[api-firstAPI]
	pr.Name = fmt.Sprint("pixel-of-api-", strconv.Itoa(api))
	app := hungry + "unprofileable\n"
	if strings.Contains(row, "debug builds") || strings.Contains(row, "read by the shell") {
		app += "debuggable\n"
	}
	p := New(pr, 1, Options{Production: true})
	t.Cleanup(p.Close)
	if err := p.Install([]byte(app)); err != nil {
		t.Fatal(err)
	}
	return p
}
