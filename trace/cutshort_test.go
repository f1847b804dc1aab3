package trace_test

import (
	"slices"
	"testing"

	"github.com/apkgate/apkgate/trace"
)

func TestCutShortOfEveryAndroidVersion(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"*** SERVICE 'batterystats' DUMP TIMEOUT (10000ms) EXPIRED ***":                          true,
		"*** SERVICE 'batterystats' DUMP TIMEOUT (10s) EXPIRED ***":                              true,
		"*** SERVICE DUMP TIMEOUT EXPIRED ***":                                                   true,
		"  *** SERVICE 'battery' DUMP TIMEOUT (10000ms) EXPIRED ***":                             true,
		"*** command 'dumpsys -t 60 batterystats -c' timed out after 60.010s (killing pid 4711)": true,
		"*** SERVICE 'meminfo' DUMP TIMEOUT (10000ms) EXPIRED ***":                               false,
		"*** SERVICE 'batterystats2' DUMP TIMEOUT (10000ms) EXPIRED ***":                         false,
		"*** command 'dumpsys -t 60 meminfo' timed out after 60.010s (killing pid 4711)":         false,
		"*** SERVICE 'batterystats' ***":                                                         false,
		"I saw *** SERVICE 'batterystats' DUMP TIMEOUT (10000ms) EXPIRED ***":                    false,
		"***": false,
		"":    false,
	} {
		if got := trace.CutShort([]byte(line), "batterystats", "battery"); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

func TestGivenUpNamesServices(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"TOTAL  45678\n\n*** SERVICE 'meminfo' DUMP TIMEOUT (10000ms) EXPIRED ***\n\n":                                       {"meminfo"},
		"*** SERVICE 'a.b/c' DUMP TIMEOUT (10s) EXPIRED ***\n":                                                               {"a.b/c"},
		"*** SERVICE DUMP TIMEOUT EXPIRED ***\r\n":                                                                           {"unknown"},
		"*** SERVICE 'a' DUMP TIMEOUT (1ms) EXPIRED ***\n*** SERVICE 'b' DUMP TIMEOUT\n*** SERVICE 'a' DUMP TIMEOUT (1ms)\n": {"a", "b"},
		"I apkgate: *** SERVICE 'meminfo' DUMP TIMEOUT (10000ms) EXPIRED ***\n":                                              nil,
		"no dump, and no time-out\n":                                                                                         nil,
	} {
		if got := trace.AbortedServices([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
