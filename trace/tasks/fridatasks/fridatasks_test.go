package fridatasks_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/tasks"
	"github.com/apkgate/apkgate/trace/tasks/fridatasks"
)

// script returns what examples/tasks/frida.js prints of the app in testdata/standin.js.
func script(t *testing.T) []byte {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node.js is not here: the script for Frida is not run")
	}
	out, err := exec.Command(node, "testdata/standin.js", "../../../examples/tasks/frida.js").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return out
}

func lines(list tasks.List) (out []string) {
	ms := func(d time.Duration) string {
		if d == tasks.Unknown {
			return "?"
		}
		return fmt.Sprint(d.Milliseconds())
	}
	for _, t := range list.Tasks {
		u := list.Units[t.Unit]
		out = append(out, fmt.Sprintf("%s (%s, %d): %s %s+%d %s %s by %s on %s, cancelled %t, from %s", u.Name, u.Kind, u.Capacity, t.Name,
			ms(t.Scheduled), t.Delay.Milliseconds(), ms(t.Started), ms(t.Done), t.Sender, t.Thread, t.Cancelled, t.Context[len(t.Context)-1]))
	}
	return out
}

// The times, threads and pools are those that testdata/standin.js states.
func TestReadOfScript(t *testing.T) {
	t.Parallel()
	list, err := fridatasks.Read(bytes.NewReader(script(t)))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"disk (handler-thread, 1): com.example.Covers 7 1+0 3 9 by main on disk, cancelled false, from com.example.Main.onClick(Main.java:12)",
		"disk (handler-thread, 1): com.example.Covers 7 10+500 ? ? by main on , cancelled true, from com.example.Main.onStop(Main.java:20)",
		"pool-1-thread (thread-pool, 4): com.example.Icons$1 20+0 21 30 by main on pool-1-thread-1, cancelled false, from com.example.Icons.load(Icons.java:3)",
		"ThreadPoolExecutor@17 (thread-pool, 3): java.util.concurrent.FutureTask 40+0 ? ? by main on , cancelled true, from com.example.Query.ask(Query.java:5)",
		"AsyncTask.SERIAL_EXECUTOR (async-task, 1): de.jdsoft.law.data.UpdateLawList 50+0 55 60 by main on AsyncTask #1, cancelled false, from android.os.AsyncTask.execute(AsyncTask.java:535)",
		"Thread (thread, 0): com.example.Download 70+0 72 80 by main on Thread-2, cancelled false, from com.example.Main.fetch(Main.java:30)",
		"IntentService[Upload] (intent-service, 1): com.example.Upload 90+0 93 99 by main on IntentService[Upload], cancelled false, from com.example.Main.upload(Main.java:40)",
	}
	if diff := cmp.Diff(want, lines(list)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
	if list.Tells != (tasks.Tells{Contexts: true, Capacity: true, Cancellation: true}) || len(list.Warnings) > 0 {
		t.Errorf("it tells %+v, warnings %v", list.Tells, list.Warnings)
	}
}

// Pools with the same workers' names are told apart by their queues.
func TestReadOfPoolsByIdentity(t *testing.T) {
	t.Parallel()
	list, err := fridatasks.Read(strings.NewReader(`[Pixel::com.example ]-> 
{"format":"apkgate.tasks/1","clock":"monotonic"}
{"scheduled":1000000,"id":1,"unit":"ThreadPoolExecutor@a","kind":"thread-pool","queue":"a","capacity":2,"name":"x","thread":"main","stack":["f"]}
{"scheduled":2000000,"id":2,"unit":"ThreadPoolExecutor@b","kind":"thread-pool","queue":"b","capacity":99999999,"name":"y","thread":"main","delay_ms":-5,"stack":["f"]}
{"started":3000000,"id":1,"thread":"worker-1"}
{"started":4000000,"id":2,"thread":"worker-1"}
{"cancelled":5000000,"id":2}
{"done":6000000,"id":2}
{"done":6000000,"id":3}
{"scheduled":7000000,"id":1,"unit":"ThreadPoolExecutor@a","kind":"thread-pool","queue":"a"}
{"scheduled":8000000,"id":4,"unit":"u","kind":"fiber","queue":"c"}
{"lost":2}
{"failed":"execute: TypeError"}
{"scheduled":-1,"id":9}
`))
	if err != nil {
		t.Fatal(err)
	}
	units := []tasks.Unit{{Name: "worker", Kind: run.ThreadPool, Capacity: 2}, {Name: "worker", Kind: run.ThreadPool, Capacity: 1 << 16}, {Name: "u", Kind: run.PlainThread}}
	if diff := cmp.Diff(units, list.Units); diff != "" {
		t.Errorf("units (-want +got):\n%s", diff)
	}
	if len(list.Tasks) != 3 || list.Tasks[0].Unit != 0 || list.Tasks[1].Unit != 1 || !list.Tasks[1].Cancelled || list.Tasks[1].Delay != 0 || list.Tasks[1].Done != 6*time.Millisecond {
		t.Errorf("tasks are %+v", list.Tasks)
	}
	got := fmt.Sprint(list.Warnings)
	for _, want := range []string{"2 lines are not of apkgate.tasks/1", "2 events are left out", "the script forgot 2 tasks", `"fiber"`, "failed 1 time"} {
		if !strings.Contains(got, want) {
			t.Errorf("no warning %q in %s", want, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"format":"apkgate.tasks/1"}` + "\n" + `{"scheduled":1,"id":1,"unit":"a","kind":"thread","delay_ms":9223372036854775807,"stack":["f","g"]}` + "\n" + `{"started":3,"id":1,"thread":"b"}` + "\n" + `{"done":2,"id":1}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		list, err := fridatasks.Read(bytes.NewReader(file))
		if err != nil {
			return
		}
		for _, one := range list.Tasks {
			if one.Unit < 0 || one.Unit >= len(list.Units) || one.Scheduled < 0 || one.Delay < 0 {
				t.Fatalf("%+v of %d units", one, len(list.Units))
			}
		}
	})
}
