package action_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/usecase/exit"
)

// A build in which a thread holds the lock that the UI thread wants: the comment names that thread,
// what it did and that the ANR is new, and the history knows it from then on.
func TestActionNamesTheLockOwner(t *testing.T) {
	w := newWorkspace(t)
	w.write("apkgate.yml", fmt.Sprintf(tracedConfig, "demo-good"))
	w.history()
	if found := w.apkgate("baseline", "anrs").Stdout; found != "the history has no ANR\n" {
		t.Errorf("before: %q", found)
	}
	w.changed("demo-still", "fault anr after scroll because lock Writer")
	w.write("apkgate.yml", fmt.Sprintf(tracedConfig, "demo-still"))
	w.want(w.apkgate("action", "run"), exit.StatusRegression)
	comment := plainly(w.Comments(7)[0].Body)
	contains(t, "the comment", comment, "ANR cause:", "<summary>What did not respond",
		"the main thread of com.example.demo did not respond: it waited for thread Writer, which held the lock, in com.example.demo.Store.rebuild; this is new: in the history only other runs of this build have it, 3 times",
		"waits for lock com.example.demo.Store held by Writer", "Writer of com.example.demo (Runnable, keeps the others waiting)")
	found := strings.Join(strings.Fields(w.apkgate("baseline", "anrs").Stdout), " ")
	contains(t, "the history's faults", found, "com.example.demo: 1 fault", "lock com.example.demo.Store 6 2")
}
