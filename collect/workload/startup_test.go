package workload

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
)

// What am start -W prints (ActivityManagerShellCommand.runStartActivity), and whether it is the
// configured start.
func TestStartJudge(t *testing.T) {
	t.Parallel()
	const (
		head    = "Starting: Intent { act=android.intent.action.MAIN cat=[android.intent.category.LAUNCHER] cmp=com.example/.Main }\n"
		toFront = "Warning: Activity not started, its current task has been brought to the front\n"
		shown   = "Activity: com.example/.Main\nTotalTime: 412\nWaitTime: 420\nComplete\n"
	)
	ok := func(state string) string { return head + "Status: ok\nLaunchState: " + state + "\n" + shown }
	for name, c := range map[string]struct {
		mode  config.StartMode
		out   string
		says  string // "": it is good
		hint  string
		cause loss.Cause
	}{
		"cold":                     {config.StartCold, ok("COLD"), "", "", 0},
		"CR LF":                    {config.StartCold, strings.ReplaceAll(ok("COLD"), "\n", "\r\n"), "", "", 0},
		"warm":                     {config.StartWarm, ok("WARM"), "", "", 0},
		"hot":                      {config.StartHot, toFront + ok("HOT"), "", "", 0},
		"cold, Android 9":          {config.StartCold, head + "Status: ok\nActivity: com.example/.Main\nThisTime: 300\nTotalTime: 412\nWaitTime: 420\nComplete\n", "", "", 0},
		"hot, Android 9":           {config.StartHot, head + toFront + "Status: ok\n" + shown, "", "", 0},
		"no activity named":        {config.StartCold, head + "Status: ok\nLaunchState: COLD\nTotalTime: 412\n", "", "", 0},
		"warm for cold":            {config.StartCold, ok("WARM"), "a cold start was asked for, and the device says WARM", "starts the app's process again", loss.Workload},
		"cold for warm":            {config.StartWarm, ok("COLD"), "a warm start was asked for, and the device says COLD", "ends in the background", loss.Workload},
		"cold for hot":             {config.StartHot, ok("COLD"), "a hot start was asked for, and the device says COLD", "ends in the background", loss.Workload},
		"warm for hot":             {config.StartHot, ok("WARM"), "the device says WARM", "Don't keep activities", loss.Workload},
		"relaunched":               {config.StartHot, toFront + ok("RELAUNCH"), "the device says RELAUNCH", "Don't keep activities", loss.Workload},
		"hot for cold, Android 9":  {config.StartCold, head + toFront + "Status: ok\n" + shown, "brought its activity to the front", "starts the app's process again", loss.Workload},
		"cold for hot, Android 9":  {config.StartHot, head + "Status: ok\n" + shown, "recreated its activity", "Don't keep activities", loss.Workload},
		"it showed already":        {config.StartHot, head + toFront + "Status: ok\nLaunchState: UNKNOWN (0)\nActivity: com.example/.Main\nTotalTime: 0\nWaitTime: 3\nComplete\n", "nothing was drawn", "", loss.Workload},
		"nobody could see it":      {config.StartCold, head + "Status: ok\nLaunchState: UNKNOWN (-1)\nActivity: com.example/.Main\nWaitTime: 3020\nComplete\n", "nothing was displayed", "lock screen", loss.Workload},
		"it took too long":         {config.StartCold, head + "Status: timeout\nLaunchState: UNKNOWN (0)\nActivity: com.example/.Main\nTotalTime: 0\nWaitTime: 10000\nComplete\n", "nothing was displayed", "lock screen", loss.Workload},
		"another app":              {config.StartCold, head + "Status: ok\nLaunchState: COLD\nActivity: com.android.permissioncontroller/.GrantPermissionsActivity\nTotalTime: 412\n", "GrantPermissionsActivity, which is another app's", "installed", loss.Workload},
		"no such activity":         {config.StartCold, head + "Error type 3\nError: Activity class {com.example/com.example.Gone} does not exist.\n", "com.example.Gone} does not exist", "workload.startup.activity", loss.Configuration},
		"not exported":             {config.StartCold, head + "\nException occurred while executing 'start':\njava.lang.SecurityException: Permission Denial: starting Intent { cmp=com.example/.Main } from null (pid=1, uid=2000) not exported from uid 10120\n\tat com.android.server\n", "not exported from uid", "exported", loss.Configuration},
		"nothing":                  {config.StartCold, "", "did not say how it went", "", loss.Workload},
		"another status":           {config.StartCold, head + "Status: null\n", "did not say how it went", "", loss.Workload},
		"a time that can't be":     {config.StartCold, head + "Status: ok\nLaunchState: COLD\nActivity: com.example/.Main\nTotalTime: 86400000\n", "nothing was displayed", "", loss.Workload},
		"a time before the intent": {config.StartCold, head + "Status: ok\nLaunchState: COLD\nActivity: com.example/.Main\nTotalTime: -7\n", "nothing was displayed", "", loss.Workload},
	} {
		s := readStart(nil, []byte(c.out))
		err := s.judge(c.mode, "com.example")
		if c.says == "" {
			if err != nil || s.Total != 412*time.Millisecond {
				t.Errorf("%s: %v after %v", name, err, s.Total)
			}
			continue
		}
		e := loss.As(err)
		if e == nil || e.Cause != c.cause || e.Final != (c.cause == loss.Configuration) || !strings.Contains(e.Error(), c.says) || !strings.Contains(e.Hint(), c.hint) ||
			(c.cause == loss.Workload) != errors.Is(err, loss.ErrStart) {
			t.Errorf("%s: %v (%s), want %q (%s)", name, err, e.Hint(), c.says, c.hint)
		}
	}
}

// The standard error is read too, if the device separates the two.
func TestReadStartOfBothOutputs(t *testing.T) {
	t.Parallel()
	s := readStart([]byte("Warning: Activity not started, its current task has been brought to the front"), []byte("Status: ok\nActivity: com.example/.Main\nTotalTime: 30\n"))
	if err := s.judge(config.StartHot, "com.example"); err != nil {
		t.Error(err)
	}
}

func FuzzStart(f *testing.F) {
	f.Add("Status: ok\nLaunchState: COLD\nActivity: com.example/.Main\nTotalTime: 412\n")
	f.Add("Error type 3\nError: Activity class {a/b} does not exist.\n")
	f.Fuzz(func(t *testing.T, out string) {
		s := readStart([]byte(out))
		if err := s.judge(config.StartCold, "com.example"); err == nil && (s.Total <= 0 || s.Total >= longestStart) {
			t.Errorf("%v is taken for a start's time", s.Total)
		}
	})
}
