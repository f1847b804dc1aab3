package pftrace

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

const asked = `# a trace of power
buffers: { size_kb: 4096 fill_policy: RING_BUFFER }
duration_ms: 30000
data_sources {
  config {
    name: "android.power"
    android_power_config {
      battery_poll_ms: 50, collect_power_rails: true
      battery_counters: [ BATTERY_COUNTER_CHARGE, BATTERY_COUNTER_CURRENT ]
    }
  }
}
data_sources: { config { name: 'linux.ftrace' } }
`

func TestParseConfig(t *testing.T) {
	c, err := ParseConfig(asked, 30)
	if err != nil {
		t.Fatal(err)
	}
	// perfetto accepts 100 ms at least.
	if !c.Power || !c.Rails || c.Poll != 100*time.Millisecond || c.Duration != 30*time.Second || strings.Join(c.Counters, " ") != "CHARGE CURRENT" {
		t.Errorf("asked for %+v", c)
	}
	for _, power := range []string{"", "android_power_config {}", "android_power_config { battery_poll_ms: 0 }"} {
		c, err := ParseConfig("buffers {} data_sources { config { name: \"android.power\" "+power+" } }", 30)
		if err != nil || !c.Power || c.Poll != time.Second || c.Rails {
			t.Errorf("with %q: %+v, %v", power, c, err)
		}
	}
}

func TestParseConfigErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "no buffers",
		"buffers { }":                    "no data_sources",
		"buffers {":                      "unexpected",
		"buffers }":                      "unexpected",
		"buffers { } }":                  "unexpected",
		"duration_ms 5":                  "unexpected",
		"a: [1, 2":                       "does not end",
		"a: \"text":                      "no buffers",
		strings.Repeat("a{", 30):         "nested too deep",
		strings.Repeat(" ", maxConfig+1): "too large",
		strings.Replace(asked, "CHARGE", "CHANGE", 1):                                                         "BATTERY_COUNTER_CHANGE",
		strings.Replace(asked, "CHARGE", "VOLTAGE", 1):                                                        "BATTERY_COUNTER_VOLTAGE",
		strings.Replace(asked, "battery_poll_ms", "battery_poll", 1):                                          `no field named "battery_poll"`,
		strings.Replace(asked, "name: 'linux.ftrace'", "android_system_property_config { poll_ms: 1000 }", 1): `no field named "android_system_property_config"`,
	} {
		if _, err := ParseConfig(text, 30); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
	if _, err := ParseConfig(strings.Replace(asked, "CHARGE", "VOLTAGE", 1), 35); err != nil {
		t.Errorf("the voltage on Android 15: %v", err)
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add(asked)
	f.Add("a: [1, 2] b { c: \"d\" }")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := ParseConfig(text, 34); err == nil && (c.Poll < leastPoll || c.Duration < 0) {
			t.Errorf("asked for %+v", c)
		}
	})
}

func TestParseConfigOfTheKernel(t *testing.T) {
	const before, after = `buffers { size_kb: 64 %s } data_sources { config { name: "linux.ftrace" ftrace_config { `, ` } } } data_sources { config { name: "linux.process_stats" } }`
	for _, tt := range []struct {
		text string
		api  int
		want Ftrace
	}{
		{`ftrace_events: ["sched/sched_switch", "sched/sched_waking", "power/cpu_frequency", "task/task_rename"]`, 30, Ftrace{Events: events("sched_switch", "sched_waking", "cpu_frequency", "task_rename")}},
		{`ftrace_events: "sched_switch"`, 34, Ftrace{Events: events("sched_switch")}}, // the default since perfetto 42; Android 15 is the first with a later version
		{`ftrace_events: "sched_switch"`, 35, Ftrace{Events: events("sched_switch"), Compact: true}},
		{`ftrace_events: "sched/sched_wakeup"`, 29, Ftrace{Events: events("sched_wakeup")}},
		{`ftrace_events: "sched_waking"`, 35, Ftrace{Events: events("sched_waking")}}, // the compact format depends on switches only
		{`ftrace_events: "sched_switch" compact_sched { enabled: true }`, 30, Ftrace{Events: events("sched_switch"), Compact: true}},
		{`ftrace_events: "sched_switch" compact_sched { enabled: false }`, 35, Ftrace{Events: events("sched_switch")}},
		{`atrace_categories: ["sched", "freq"]`, 30, Ftrace{Events: events("sched_switch", "sched_waking", "sched_blocked_reason", "cpu_frequency"), Categories: []string{"sched", "freq"}}},
		{`atrace_categories: "view" atrace_apps: "*"`, 30, Ftrace{Categories: []string{"view"}, Apps: []string{"*"}}},
	} {
		for _, policy := range []string{"fill_policy: RING_BUFFER", "fill_policy: DISCARD", ""} {
			c, err := ParseConfig(fmt.Sprintf(before, policy)+tt.text+after, tt.api)
			if err != nil || !c.Kernel || !c.Processes || c.Ring != strings.Contains(policy, "RING") || !reflect.DeepEqual(c.Ftrace, tt.want) {
				t.Errorf("%s, Android API %d: %+v, %v", tt.text, tt.api, c, err)
			}
		}
	}
	c, err := ParseConfig(asked, 30)
	if err != nil || !c.Kernel || c.Processes || !reflect.DeepEqual(c.Ftrace, Ftrace{}) {
		t.Errorf("without a configuration of ftrace: %+v, %v", c, err)
	}
}
