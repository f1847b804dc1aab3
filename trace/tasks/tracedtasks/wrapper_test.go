package tracedtasks_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/trace/systrace"
	"github.com/apkgate/apkgate/trace/tasks/tracedtasks"
)

// What examples/tasks/ApkgateTasks.java writes is read: it runs with stand-ins of android.os and
// the app of testdata/java/Main.java, which states the times.
func TestReadSectionsOfWrapper(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"javac", "java"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not here: the wrapper is not compiled", tool)
		}
	}
	files, err := filepath.Glob("testdata/java/android/os/*.java")
	if err != nil || len(files) != 5 {
		t.Fatalf("%q, %v", files, err)
	}
	dir := t.TempDir()
	compile := append([]string{"-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-proc:none", "-Xlint:all", "-Werror", "-d", dir, "testdata/java/Main.java", "../../../examples/tasks/ApkgateTasks.java"}, files...)
	if out, err := exec.Command("javac", compile...).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v: %s", err, out)
	}
	run := exec.Command("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", dir, "Main")
	run.Env = append(os.Environ(), "LC_ALL=C")
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("java: %v: %s", err, out)
	}
	list := read(t, systrace.Source(strings.NewReader("# tracer: nop\n#\n"+string(out))), "", tracedtasks.SectionsSource)
	want := []string{
		"images: Main$Load 1+0 5 25 by com.example.app on pool-1-thread-1Main.main(Main.java:31)",
		"images: java.util.concurrent.FutureTask 2+0 ? ? by com.example.app on  cancelledMain.main(Main.java:34)",
		"full: Main$Load 30+0 ? ? by com.example.app on  cancelledMain.main(Main.java:42)",
		"disk: Main$Load 40+500 545 565 by com.example.app on diskMain.main(Main.java:49)",
		"disk: ApkgateTasks$RecordedHandler 7 50+0 ? ? by com.example.app on  cancelledMain.main(Main.java:53)",
		"disk: ApkgateTasks$RecordedHandler 7 60+0 70 70 by com.example.app on diskMain.main(Main.java:56)",
	}
	if diff := cmp.Diff(want, lines(list)); diff != "" {
		t.Errorf("tasks (-want +got):\n%s\nof\n%s", diff, out)
	}
}
