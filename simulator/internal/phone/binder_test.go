package phone

import (
	"bytes"
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/timeline"
	"github.com/apkgate/apkgate/trace/perfetto/binder"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// recordBinder records binder transactions while the app's test runs.
func recordBinder(t *testing.T, p *Phone, config string) (*threads.Tracker, *binder.Reader) {
	t.Helper()
	pid := strings.TrimSpace(output(t, p, "echo '"+config+"' | perfetto --txt -c - -o "+kernelTrace+" --background"))
	start(p, instrument)
	pass(t, p, 7*time.Second)
	output(t, p, "kill "+pid)
	pass(t, p, time.Second)
	f := packets.New()
	tracker := threads.New(f)
	r := binder.New(f, tracker)
	if err := f.ReadInOrder(bytes.NewReader([]byte(output(t, p, "cat "+kernelTrace))), tracker, r); err != nil {
		t.Fatal(err)
	}
	return tracker, r
}

// A trace with binder events contains each call and its reply, with their times and threads,
// and one-way calls; other traces contain none.
func TestTraceOfBinderTransactions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ phone, asked, name string }{
		{"pixel-7-android-14", `ftrace_events: "binder/binder_transaction" ftrace_events: "binder/binder_transaction_received"`, "binder:"},
		{"pixel-5-android-11", `atrace_categories: "binder_driver"`, "Binder:"},
		{"pixel-7-android-14", "", ""},
	} {
		p := newPhone(t, c.phone, hungry)
		tracker, r := recordBinder(t, p, strings.Replace(kernelConfig, `ftrace_events: "power/cpu_frequency"`, c.asked, 1))
		type end struct {
			from, to int32
			at       time.Duration
		}
		truth := map[end]timeline.Transaction{}
		replies := map[end]time.Duration{}
		for _, one := range p.Timeline().Transactions {
			truth[end{one.From, one.To, one.Sent}] = one
			if one.Reply {
				replies[end{one.To, one.From, 0}] = one.Sent
			}
		}
		told := map[string]int{}
		for one := range r.Transactions() {
			client, server := tracker.Threads[one.Client.Thread], tracker.Threads[one.Server.Thread]
			key := end{int32(client.TID), int32(server.TID), one.Client.At - clock.Slept}
			want, there := truth[key]
			if !there || want.Received != one.Server.At-clock.Slept || want.OneWay == one.Waits {
				t.Fatalf("%s: %+v, in truth %+v", c.phone, one, want)
			}
			if !strings.HasPrefix(server.Name, c.name) {
				t.Errorf("%s: %s answers", c.phone, server.Name)
			}
			kind := " tells "
			if one.Waits {
				kind = " asks "
			}
			told[cmp.Or(client.Name, tracker.Processes[client.Process].Name)+kind+tracker.Processes[server.Process].Name]++
		}
		want := map[string]int{"com.example.still asks system_server": 2}
		switch {
		case c.asked == "":
			want = nil
			if len(told) > 0 {
				t.Errorf("nobody asked, and %v", told)
			}
		case c.name == "binder:":
			want["RenderThread tells /system/bin/surfaceflinger"], want["/system/bin/surfaceflinger tells com.example.still"] = 30, 30
		default:
			want["RenderThread asks /system/bin/surfaceflinger"] = 30
		}
		for edge, least := range want {
			if told[edge] < least {
				t.Errorf("%s: %s %d times: %v", c.phone, edge, told[edge], told)
			}
		}
	}
}

// An input event passes through the system's threads to the UI thread, whose calls wake the
// system's threads in turn.
func TestTraceOfAnInputEvent(t *testing.T) {
	t.Parallel()
	r := recordKernel(t, newPhone(t, "pixel-7-android-14", hungry))
	woken := map[string]int{}
	for _, s := range r.sched.States.Rows {
		if s.Waker > 0 {
			woken[r.threads.Threads[s.Waker].Name+" wakes "+r.threads.Threads[s.Thread].Name]++
		}
	}
	for _, edge := range []string{"InputReader wakes InputDispatcher", "InputDispatcher wakes m.example.still", "m.example.still wakes binder:1040_1", "binder:1040_1 wakes m.example.still"} {
		if woken[edge] == 0 {
			t.Errorf("%s never: %v", edge, woken)
		}
	}
}
