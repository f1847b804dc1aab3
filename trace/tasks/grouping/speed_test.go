package grouping

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/tasks"
)

// manyContexts returns different contexts of 75 tasks, each with 20 to 40 frames, which differ in
// lines and in up to three functions of the framework.
func manyContexts(random *rand.Rand, n int) (out [][]string) {
	for i := range n {
		task, build := i%75, random.IntN(100)
		context := []string{"android.os.AsyncTask.executeOnExecutor(Native Method)", fmt.Sprintf("android.os.AsyncTask.execute(AsyncTask.java:%d)", build)}
		for k := range 1 + task%4 {
			context = append(context, fmt.Sprintf("com.example.mail.Screen%d.step%d(Screen%d.java:%d)", task, k, task, 10*k))
		}
		for k := range 16 + task%20 {
			context = append(context, fmt.Sprintf("android.view.Layer%d.call%d(Layer.java:%d)", task%7, k, build+k))
		}
		for range random.IntN(4) {
			context[len(context)-1-random.IntN(12)] = fmt.Sprintf("android.view.Other%d.call(Other.java:%d)", random.IntN(30), i)
		}
		out = append(out, context)
	}
	return out
}

// manyTasks returns tasks of the contexts in ten units, each of which always has a queue.
func manyTasks(random *rand.Rand, contexts [][]string, n int) Repetition {
	r := Repetition{Number: 1, List: tasks.List{Tells: tasks.Tells{Contexts: true}}}
	for i := range 10 {
		r.List.Units = append(r.List.Units, tasks.Unit{Name: fmt.Sprint("pool ", i), Kind: "thread-pool"})
	}
	free := make([]time.Duration, 10)
	for i := range n {
		unit, scheduled := random.IntN(10), time.Duration(i)*time.Millisecond
		started := max(free[unit], scheduled)
		free[unit] = started + time.Duration(random.IntN(19_900))*time.Microsecond
		r.List.Tasks = append(r.List.Tasks, tasks.Task{Unit: unit, Context: contexts[random.IntN(len(contexts))], Scheduled: scheduled, Started: started, Done: free[unit]})
	}
	for i := range 20 {
		r.Events = append(r.Events, trace.Event{Name: fmt.Sprint("tap ", i), At: time.Duration(i) * time.Duration(n) * time.Millisecond / 20})
	}
	return r
}

// BenchmarkCollector groups 100,000 tasks with 1,500 contexts, a figure of docs/performance.md.
func BenchmarkCollector(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	r := manyTasks(random, manyContexts(random, 1_500), 100_000)
	for b.Loop() {
		c := NewCollector("com.example.mail", Late)
		c.Add(r)
		if got := c.Tasks(); len(got.Groups) == 0 {
			b.Fatal("no groups")
		}
	}
}
