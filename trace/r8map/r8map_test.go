package r8map_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/trace/r8map"
)

func read(t testing.TB, text string) *r8map.Map {
	t.Helper()
	m, err := r8map.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// show prints possibilities in short: frames from the innermost out, as "Class.method(args)
// File:line"; "|" separates possibilities.
func show(possible [][]r8map.Frame) string {
	var all []string
	for _, frames := range possible {
		var shown []string
		for _, f := range frames {
			s := fmt.Sprintf("%s.%s%s", f.Class, f.Method, f.Args)
			if f.File != "" || f.Line != 0 {
				s += fmt.Sprintf(" %s:%d", f.File, f.Line)
			}
			if f.Synthesized {
				s += " synthesized"
			}
			if f.Outline {
				s += " outline"
			}
			shown = append(shown, s)
		}
		all = append(all, strings.Join(shown, " < "))
	}
	return strings.Join(all, " | ")
}

// mail has the shapes shown in R8's doc/retrace.md and its tests of retrace; names and numbers are
// made up.
const mail = `# compiler: R8
# compiler_version: 8.5.35
# min_api: 24
# {"id":"com.android.tools.r8.mapping","version":"2.2"}
# pg_map_id: 7b2c
# pg_map_hash: SHA-256 7b2c99
mail.Inbox -> a.a:
# {"id":"sourceFile","fileName":"Inbox.kt"}
    java.util.List unread -> a
    # {"id":"com.android.tools.r8.synthesized"}
    1:3:void open(int):10:12 -> a
    4:4:int mail.Store.count(java.lang.String):70:70 -> a
    4:4:int mail.Folder.size():31 -> a
    4:4:void open(int):13 -> a
    5:5:void close():20:20 -> b
    5:5:void close(mail.Folder):25:25 -> b
      # {"id":"com.android.tools.r8.residualsignature","signature":"(La/b;Z)V"}
    void <init>(mail.Folder) -> <init>
    0:65535:void refresh():33:33 -> c
    8:9:void mail.Store.sync():81:82 -> d
    8:9:void poll():40 -> d
    82:128:void untouched() -> e
    void mail.Store.load():5:9 -> f
    boolean access$000(mail.Inbox,int[]) -> g
    boolean access$100(mail.Inbox,mail.Folder[]) -> g
mail.Folder -> a.b:
# {"id":"sourceFile","fileName":"Folder.java"}
    1:2:int outline():0:0 -> a
    # {'id':'com.android.tools.r8.outline'}
    3:3:void lambda$run$0():9:9 -> b
    # {'id':'com.android.tools.r8.synthesized'}
    # {"id":"com.android.tools.r8.rewriteFrame","conditions":["throws(Ljava/lang/NullPointerException;)"],"actions":["removeInnerFrames(1)"]}
mail.Made -> mail.Made:
# {"id":"com.android.tools.r8.synthesized"}
mail.Main -> mail.Main:
`

func TestRetrace(t *testing.T) {
	m := read(t, mail)
	for _, c := range []struct {
		why  string
		at   r8map.Place
		want string
	}{
		{"a line in a range moves with it", r8map.Place{Class: "a.a", Method: "a", Line: 2}, "mail.Inbox.open(int) Inbox.kt:11"},
		{"what was put into the method stands inside, with the files of its classes", r8map.Place{Class: "a.a", Method: "a", Line: 4},
			"mail.Store.count(java.lang.String) :70 < mail.Folder.size() Folder.java:31 < mail.Inbox.open(int) Inbox.kt:13"},
		{"without a line, only what stands at every line is sure", r8map.Place{Class: "a.a", Method: "a"}, "mail.Inbox.open(int) Inbox.kt:0"},
		{"a method that holds nothing but another one", r8map.Place{Class: "a.a", Method: "d"}, "mail.Store.sync() < mail.Inbox.poll() Inbox.kt:40"},
		{"the range of such a method", r8map.Place{Class: "a.a", Method: "d", Line: 9}, "mail.Store.sync() :82 < mail.Inbox.poll() Inbox.kt:40"},
		{"methods that share a name, each possible", r8map.Place{Class: "a.a", Method: "b"},
			"mail.Inbox.close() Inbox.kt:20 | mail.Inbox.close(mail.Folder) Inbox.kt:25"},
		{"arguments that the compiler changed", r8map.Place{Class: "a.a", Method: "b", Args: "(a.b, boolean)"}, "mail.Inbox.close(mail.Folder) Inbox.kt:25"},
		{"arguments that it did not change", r8map.Place{Class: "a.a", Method: "b", Args: "()"}, "mail.Inbox.close() Inbox.kt:20"},
		{"arguments of renamed classes", r8map.Place{Class: "a.a", Method: "g", Args: "(a.a, a.b[])"}, "mail.Inbox.access$100(mail.Inbox,mail.Folder[]) Inbox.kt:0"},
		{"arguments of no method tell nothing", r8map.Place{Class: "a.a", Method: "b", Args: "(long)"},
			"mail.Inbox.close() Inbox.kt:20 | mail.Inbox.close(mail.Folder) Inbox.kt:25"},
		{"no range", r8map.Place{Class: "a.a", Method: "<init>", Line: 7}, "mail.Inbox.<init>(mail.Folder) Inbox.kt:7"},
		{"a range for everything", r8map.Place{Class: "a.a", Method: "c", Line: 500}, "mail.Inbox.refresh() Inbox.kt:33"},
		{"lines as they were", r8map.Place{Class: "a.a", Method: "e", Line: 100}, "mail.Inbox.untouched() Inbox.kt:100"},
		{"a method from another class", r8map.Place{Class: "a.a", Method: "f"}, "mail.Store.load()"},
		{"a line that the mapping doesn't have", r8map.Place{Class: "a.a", Method: "a", Line: 99}, "mail.Inbox.a Inbox.kt:99"},
		{"a method that the mapping doesn't have", r8map.Place{Class: "a.b", Method: "toString"}, "mail.Folder.toString Folder.java:0"},
		{"an outline", r8map.Place{Class: "a.b", Method: "a", Line: 1}, "mail.Folder.outline() Folder.java:0 outline"},
		{"a method that the compiler made", r8map.Place{Class: "a.b", Method: "b", Line: 3}, "mail.Folder.lambda$run$0() Folder.java:9 synthesized"},
		{"a class that the compiler made", r8map.Place{Class: "mail.Made", Method: "run"}, "mail.Made.run synthesized"},
		{"a class that isn't renamed", r8map.Place{Class: "mail.Main", Method: "main"}, "mail.Main.main"},
		{"a class of the platform", r8map.Place{Class: "android.os.Looper", Method: "loop"}, ""},
	} {
		if got := show(m.Retrace(c.at)); got != c.want {
			t.Errorf("%s: %+v is %q, want %q", c.why, c.at, got, c.want)
		}
	}
	if len(m.Warnings) > 0 {
		t.Errorf("warnings %v, want none", m.Warnings)
	}
}

// A note below a field applies neither to the method above it nor to the class.
func TestReadNotesOfFields(t *testing.T) {
	m := read(t, mail)
	if got := m.Retrace(r8map.Place{Class: "a.a", Method: "toString"}); got[0][0].Synthesized {
		t.Errorf("%+v: the field's note was taken for the class's", got)
	}
}

func TestHeader(t *testing.T) {
	want := r8map.Header{Compiler: "R8", CompilerVersion: "8.5.35", MinAPI: "24", ID: "7b2c", Hash: "SHA-256 7b2c99", Version: "2.2"}
	if diff := cmp.Diff(want, read(t, mail).Header); diff != "" {
		t.Error(diff)
	}
}

func TestReadWarnings(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"no mapping at all\n", "is no class"},
		{"A -> a:\n    what is this\n", "is no member"},
		{"A -> a:\n    1:void f() -> b\n", "is no method"},
		{"A -> a:\n    1:2:void f():x -> b\n", "is no method"},
		{"A -> a:\n    99999999999:2:void f() -> b\n", "is no method"},
		{"A -> a:\n    void f( -> b\n", "is no method"},
		{"A -> a:\nB -> a:\n", "is there twice"},
		{"# {\"id\":\"com.android.tools.r8.mapping\",\"version\":\"3.0\"}\n", "is of version \"3.0\""},
		{"A -> a:\n# {\"id\":}\n", "is not JSON"},
		{"A -> a:\n" + strings.Repeat("x", 2<<20) + "\n", "is longer than"},
	} {
		m := read(t, c.text)
		if len(m.Warnings) == 0 || !strings.Contains(m.Warnings[0].Text, c.want) {
			t.Errorf("%.60q has the warnings %v, want one with %q", c.text, m.Warnings, c.want)
		}
	}
}

// A bad line loses only itself.
func TestReadSkipsBadLines(t *testing.T) {
	m := read(t, "A -> a:\n    rubbish\n    1:1:void f():5:5 -> b\n\x00\xff\nB -> c:\n    void g() -> d\n")
	for at, want := range map[r8map.Place]string{
		{Class: "a", Method: "b"}: "A.f() :5",
		{Class: "c", Method: "d"}: "B.g()",
	} {
		if got := show(m.Retrace(at)); got != want {
			t.Errorf("%+v is %q, want %q", at, got, want)
		}
	}
}

func TestInspect(t *testing.T) {
	seen, err := r8map.Inspect(strings.NewReader(mail))
	if err != nil {
		t.Fatal(err)
	}
	want := r8map.Details{
		Header:  r8map.Header{Compiler: "R8", CompilerVersion: "8.5.35", MinAPI: "24", ID: "7b2c", Hash: "SHA-256 7b2c99", Version: "2.2"},
		Classes: 4, Renamed: 2, // mail.Made and mail.Main keep their names
		Methods:   12, // open, 2 close, <init>, refresh, poll, untouched, load, 2 access; outline, lambda
		Inlined:   3,  // count and size into open, sync into poll
		Ambiguous: 2,  // b and g
		// lambda$run$0; the classes' own notes do not count as methods.
		Synthesized: 1, Outlines: 1,
	}
	if diff := cmp.Diff(want, seen.Details); diff != "" {
		t.Error(diff)
	}
}

func TestSummaryOfHeader(t *testing.T) {
	for text, want := range map[string]string{
		mail:                        `made by "R8", of version "8.5.35", with additions of version "2.2", id "7b2c"`,
		"# compiler: R8\nA -> a:\n": `made by "R8"`,
		"A -> a:\n":                 "1 classes (1 renamed), 0 methods (0 generated by the compiler, 0 outlines)",
	} {
		seen, err := r8map.Inspect(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if lines := seen.Details.(r8map.Details).Summary(); lines[0] != want {
			t.Errorf("the summary begins with %q, want %q", lines[0], want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(mail))
	f.Add([]byte("A -> a:\n    1:1:void f():1:1 -> b\n    1:1:void g():1 -> b\n"))
	f.Add([]byte("\xff\xfeA\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := r8map.Read(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("a text in memory can be read: %v", err)
		}
		for _, p := range []r8map.Place{{Class: "a", Method: "b"}, {Class: "a.a", Method: "b", Args: "(a.b)"}, {Class: "a.a", Method: "a", Line: 4}} {
			_, known := m.Class(p.Class)
			possible := m.Retrace(p)
			if known != (len(possible) > 0) {
				t.Errorf("class %s is known: %v, and has %d possibilities", p.Class, known, len(possible))
			}
			for _, frames := range possible {
				if len(frames) == 0 {
					t.Errorf("%+v has a possibility without frames", p)
				}
				for _, f := range frames {
					if f.Class == "" || f.Method == "" || f.Line < 0 {
						t.Errorf("%+v has the frame %+v", p, f)
					}
				}
			}
		}
		if _, err := r8map.Inspect(bytes.NewReader(text)); err != nil {
			t.Error(err)
		}
	})
}

// synthetic returns a mapping of this many methods in the proportions of a large app's: 8 methods a
// class, half of them with a method inlined.
func synthetic(methods int) []byte {
	var out bytes.Buffer
	for i := range methods {
		if i%8 == 0 {
			fmt.Fprintf(&out, "com.example.feature%d.part.Screen%d -> a%d.b%d:\n# {\"id\":\"sourceFile\",\"fileName\":\"Screen%d.kt\"}\n", i/4000, i/8, i/4000, i/8, i/8)
		}
		fmt.Fprintf(&out, "    1:4:void onSomething%d(android.content.Context,int):%d:%d -> m%d\n", i%977, i%500+1, i%500+4, i%8)
		if i%2 == 0 {
			fmt.Fprintf(&out, "    5:5:int com.example.core.Store.find(java.lang.String):70:70 -> m%d\n    5:5:void onSomething%d(android.content.Context,int):%d -> m%d\n", i%8, i%977, i%500+5, i%8)
		}
	}
	return out.Bytes()
}

// A mapping of a million methods takes about as much memory as its file has bytes, or less.
func BenchmarkRead(b *testing.B) {
	text := synthetic(1_000_000)
	b.SetBytes(int64(len(text)))
	var m *r8map.Map
	for b.Loop() {
		var err error
		if m, err = r8map.Read(bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
	var with, without runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&with)
	runtime.KeepAlive(m)
	m = nil
	runtime.GC()
	runtime.ReadMemStats(&without)
	b.ReportMetric(float64(with.HeapAlloc-without.HeapAlloc)/(1<<20), "MiB-held")
	b.ReportMetric(float64(len(text))/(1<<20), "MiB-file")
}

func ExampleMap_Retrace() {
	m, _ := r8map.Read(strings.NewReader("mail.Inbox -> a.b:\n    1:9:void open(int):20:28 -> c\n"))
	for _, frames := range m.Retrace(r8map.Place{Class: "a.b", Method: "c", Line: 3}) {
		for _, f := range frames {
			fmt.Println(f.Class, f.Method, f.Args, f.Line)
		}
	}
	// Output: mail.Inbox open (int) 22
}

func TestReadReportsInputErrors(t *testing.T) {
	if _, err := r8map.Read(io.MultiReader(strings.NewReader(mail), broken{})); err == nil {
		t.Error("a reader that breaks off gives no error")
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }
