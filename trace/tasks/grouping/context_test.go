package grouping

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// stacksOfLines returns the stacks of contexts, whose lines are separated by spaces, in an app.
func stacksOfLines(app string, lines ...string) []stack {
	c := newContexts(app)
	out := make([]stack, len(lines))
	for i, one := range lines {
		out[i] = c.stacks[c.number("", strings.Fields(one))]
	}
	return out
}

// The weights are worked out by hand: 1, 1/3 and 1/9 of the app's functions from the innermost on,
// and 1/4 of all of the platform's.
func TestDistance(t *testing.T) {
	t.Parallel()
	const own, library, platform = "com.example.mail.", "okhttp3.", "android.os."
	for name, c := range map[string]struct {
		app, a, b string
		want      float64
	}{
		"the same":                             {"com.example.mail", platform + "X.x com.example.mail.M.a", platform + "X.x com.example.mail.M.a", 0},
		"another innermost function":           {"com.example.mail", platform + "X.x com.example.mail.M.a com.example.mail.M.b android.os.Y.y", platform + "X.x com.example.mail.M.c com.example.mail.M.b android.os.Y.y", 1 / (4.0/3 + 0.25)},
		"another caller":                       {"com.example.mail", platform + "X.x com.example.mail.M.a com.example.mail.M.b android.os.Y.y", platform + "X.x com.example.mail.M.a com.example.mail.M.c android.os.Y.y", 1.0 / 3 / (4.0/3 + 0.25)},
		"another function of the platform":     {"com.example.mail", platform + "X.x com.example.mail.M.a com.example.mail.M.b android.os.Y.y", platform + "X.x com.example.mail.M.a com.example.mail.M.b android.os.Z.z", 0.125 / (4.0/3 + 0.25)},
		"one more of the platform":             {"com.example.mail", platform + "X.x com.example.mail.M.a android.os.Y.y", platform + "X.x com.example.mail.M.a android.os.Y.y android.os.Z.z", 0.25 / 3 / 1.25},
		"one more of the app, innermost":       {"com.example.mail", platform + "X.x com.example.mail.M.a com.example.mail.M.b", platform + "X.x com.example.mail.M.c com.example.mail.M.a com.example.mail.M.b", 1 / (1 + 1.0/3 + 1.0/9 + 0.25)},
		"one of the app for the platform's":    {"com.example.mail", own + "M.a android.os.Y.y", own + "M.a com.example.mail.M.b", 1.0 / 3 / (4.0 / 3)},
		"the order":                            {"com.example.mail", own + "M.a com.example.mail.M.b com.example.mail.M.c", own + "M.a com.example.mail.M.c com.example.mail.M.b", (1.0/3 + 1.0/9) / (1 + 1.0/3 + 1.0/9)},
		"a library where the app is":           {"com.example.mail", library + "C.c com.example.mail.M.a", library + "D.d com.example.mail.M.a", 0.25 / 1.25},
		"a library alone":                      {"com.example.mail", library + "C.c okhttp3.B.b android.os.Y.y", library + "D.d okhttp3.B.b android.os.Y.y", 1 / (4.0/3 + 0.25)},
		"an unknown package":                   {"", own + "M.a okhttp3.C.c", own + "M.a okhttp3.D.d", 1.0 / 3 / (4.0 / 3)},
		"the platform alone":                   {"com.example.mail", platform + "A.a android.os.B.b android.os.C.c android.os.D.d", platform + "A.a android.os.E.e android.os.C.c android.os.D.d", 0.25},
		"nothing in common":                    {"com.example.mail", own + "M.a android.os.Y.y", own + "M.b android.os.Z.z", 1},
		"a build type at the end of a package": {"com.example.mail.debug", own + "M.a android.os.Y.y com.example.main.N.n", own + "M.a android.os.Y.y com.example.main.O.o", 0.125 / 1.25},
	} {
		list := stacksOfLines(c.app, c.a, c.b)
		var by comparer
		for _, pair := range [][2]*stack{{&list[0], &list[1]}, {&list[1], &list[0]}} {
			for limit, want := range map[float64]bool{c.want + 1e-9: true, c.want - 1e-9: false} {
				if limit > 0 && by.near(pair[0], pair[1], limit) != want {
					t.Errorf("%s: a distance of up to %g is %v, want %g", name, limit, !want, c.want)
				}
			}
		}
	}
}

// The weight that one stack lacks is a bound of the distance, whichever of the two it is.
func TestLacks(t *testing.T) {
	t.Parallel()
	list := stacksOfLines("a.b.c", "a.b.c.A.a android.os.X.x", "android.os.X.x", "a.b.c.A.a a.b.c.B.b a.b.c.A.a", "a.b.c.B.b android.os.W.w android.os.Z.z")
	for _, c := range []struct {
		a, b int
		want float64
	}{{0, 1, 1}, {0, 2, 1.0 / 3}, {1, 3, 1.25}, {2, 3, 10.0 / 9}, {0, 3, 1.25}, {1, 2, 13.0 / 9}} {
		for limit, want := range map[float64]bool{c.want + 1e-9: true, c.want - 1e-9: false} {
			if lacks(&list[c.a], &list[c.b], limit) != want || lacks(&list[c.b], &list[c.a], limit) != want {
				t.Errorf("%d and %d: lacks at most %g is %v, want %g", c.a, c.b, limit, !want, c.want)
			}
		}
	}
}

func TestNumberOfContexts(t *testing.T) {
	t.Parallel()
	c := newContexts("com.example.mail")
	first := c.number("a", []string{"android.os.AsyncTask.execute(AsyncTask.java:5)", "com.example.mail.M.a (M.java:7)"})
	for name, one := range map[string]struct {
		task  string
		lines []string
		same  bool
	}{
		"again":              {"a", []string{"android.os.AsyncTask.execute(AsyncTask.java:5)", "com.example.mail.M.a (M.java:7)"}, true},
		"other lines":        {"a", []string{"  at android.os.AsyncTask.execute(Native Method)", "com.example.mail.M.a(~Xposed>)"}, true},
		"a hook":             {"a", []string{"de.robv.android.xposed.XposedBridge.handleHookedMethod(XposedBridge.java:1)", "android.os.AsyncTask.execute", "org.lsposed.a.B.c", "com.example.mail.M.a", ""}, true},
		"another task":       {"b", []string{"android.os.AsyncTask.execute(AsyncTask.java:5)", "com.example.mail.M.a (M.java:7)"}, false},
		"another method":     {"a", []string{"android.os.AsyncTask.execute(AsyncTask.java:5)", "com.example.mail.M.b (M.java:7)"}, false},
		"one method less":    {"a", []string{"com.example.mail.M.a (M.java:7)"}, false},
		"an anonymous class": {"a", []string{"android.os.AsyncTask.execute(AsyncTask.java:5)", "com.example.mail.M$1.a (M.java:7)"}, false},
	} {
		n := c.number(one.task, one.lines)
		if (n == first) != one.same {
			t.Errorf("%s: number %d, of %d", name, n, first)
		}
		if again := c.number(one.task, one.lines); again != n {
			t.Errorf("%s: number %d, then %d", name, n, again)
		}
	}
	for _, none := range [][]string{{""}, {"(Native Method)"}, {"de.robv.android.xposed.XposedBridge.a"}} {
		if n := c.number("a", none); n != -1 {
			t.Errorf("%q has the number %d", none, n)
		}
	}
	if s := c.stacks[first]; s.scheduler != "com.example.mail.M.a" || math.Abs(s.total-1.25) > 1e-9 || s.raw[0] != "android.os.AsyncTask.execute(AsyncTask.java:5)" {
		t.Errorf("%+v", s)
	}
	if s := c.stacks[c.number("", []string{"android.os.A.a", "android.os.B.b"})]; s.scheduler != "android.os.A.a" {
		t.Errorf("of the platform alone: %+v", s)
	}
}

func TestOwnPrefix(t *testing.T) {
	t.Parallel()
	for app, want := range map[string]string{"": "", "mail": "", "org.mail": "org.mail.", "com.example.mail": "com.example.mail.", "com.example.mail.debug": "com.example.mail."} {
		if got := ownPrefix(app); got != want {
			t.Errorf("%q: %q, want %q", app, got, want)
		}
	}
}

// Single linkage joins through what is between, but never tasks of different names.
func TestClusters(t *testing.T) {
	t.Parallel()
	list := stacksOfLines("a.b.c", "a.b.c.A.a a.b.c.B.b android.os.X.x", "a.b.c.A.a a.b.c.C.c android.os.Y.y", "a.b.c.A.a a.b.c.C.c android.os.X.x", "a.b.c.D.d android.os.X.x", "a.b.c.A.a a.b.c.B.b android.os.X.x")
	list[4].task = "other"
	if got := clusters(list, 0.25); !slices.Equal(got, []int32{0, 0, 0, 1, 2}) {
		t.Errorf("%v", got)
	}
	list[2].task = "other" // the one between
	if got := clusters(list, 0.25); !slices.Equal(got, []int32{0, 1, 2, 3, 2}) {
		t.Errorf("without the one between: %v", got)
	}
	if got := clusters(nil, 0.25); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}
