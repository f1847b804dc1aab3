package symbolize_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/energy/methods"
	"github.com/apkgate/apkgate/energy/symbolize"
	"github.com/apkgate/apkgate/internal/corpustest"
	"github.com/apkgate/apkgate/trace/r8map"
	"github.com/apkgate/apkgate/trace/simpleperf"
)

const mapping = `mail.Inbox -> a.a:
    1:3:void open(int):10:12 -> a
    4:4:int mail.Store.count():70:70 -> a
    4:4:void open(int):13 -> a
    5:5:void close():20:20 -> b
    6:6:void close(mail.Folder):25:25 -> b
    1:1:boolean read(int):30:30 -> c
    2:2:boolean mail.Store.write(mail.Folder):31:31 -> c
    8:9:void mail.Store.sync():81:82 -> d
    8:9:void poll():40 -> d
    int f1() -> e
    int f2() -> e
    int f3() -> e
    int f4() -> e
    int f5() -> e
mail.Folder -> a.b:
`

func mapped(t testing.TB) *r8map.Map {
	t.Helper()
	m, err := r8map.Read(strings.NewReader(mapping))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The wanted names are those of binutils' c++filt, without arguments and without libc++'s inner
// namespaces and Rust's hashes.
func TestNamingOfMachineCode(t *testing.T) {
	name := symbolize.New(nil)
	for _, c := range []struct{ symbol, file, want, wantFile string }{
		{"_ZN7android6Looper8pollOnceEiPiS1_PPv", "/system/lib64/libutils.so", "android::Looper::pollOnce", "/system/lib64/libutils.so"},
		{"_ZNSt6vectorIiSaIiEE7reserveEm", "/x.so", "std::vector<int, std::allocator<int> >::reserve", "/x.so"},
		{"_ZN4Mail4sendERKNSt3__112basic_stringIcNS0_11char_traitsIcEENS0_9allocatorIcEEEE", "/x.so", "Mail::send", "/x.so"},
		{"_ZNSt6__ndk16vectorIiNS_9allocatorIiEEE4pushEv", "/x.so", "std::vector<int, std::allocator<int> >::push", "/x.so"},
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "/x.so", "core::fmt::Write::write_fmt", "/x.so"},
		{"_RNvCs1234_7mycrate3foo", "/x.so", "mycrate::foo", "/x.so"},
		{"__dl__ZN6soinfo4linkEv", "/apex/com.android.runtime/bin/linker64", "[linker]soinfo::link", "/apex/com.android.runtime/bin/linker64"},
		{"decode_row.__uniq.1234567890.llvm.987654321", "/x.so", "decode_row", "/x.so"},
		{"_ZN4MailL4sendEv.llvm.9600402884964687415", "/x.so", "Mail::send", "/x.so"},
		{"deflate_slow", "/apex/com.android.art@331013030/lib64/libz.so", "deflate_slow", "/apex/com.android.art/lib64/libz.so"},
		{"", "/data/app/~~d9GU08QC_9TZAfKC-JBXg==/com.example.mail-dJv39H5oeU5_UxPP-EYAw==/lib/arm64/libgame.so", "[unknown] in libgame.so", "com.example.mail/lib/arm64/libgame.so"},
		{"draw", "/data/app/com.example.mail-1/base.apk!/lib/arm64/libgame.so", "draw", "com.example.mail/base.apk!/lib/arm64/libgame.so"},
		{"", "", "[unknown]", ""},
		{"", "[unknown]", "[unknown]", "[unknown]"},
		{"_ZNotMangled", "/x.so", "_ZNotMangled", "/x.so"},
		{"a\x00b\x1b[31m\xff", "/x\n.so", "a�b�[31m�", "/x�.so"},
	} {
		got := name(simpleperf.Frame{Symbol: c.symbol, File: c.file, Offset: 64, Kind: simpleperf.Native})
		want := []methods.Frame{{Name: c.want, File: c.wantFile, Kind: simpleperf.Native}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q in %s: %s", c.symbol, c.file, diff)
		}
	}
	kernel := name(simpleperf.Frame{File: "[kernel.kallsyms]", Kind: simpleperf.Kernel})
	if kernel[0].Name != "[unknown] in [kernel.kallsyms]" {
		t.Errorf("a frame of the kernel is %q", kernel[0].Name)
	}
}

func TestNamingOfJava(t *testing.T) {
	m := mapped(t)
	for _, c := range []struct {
		why, symbol string
		mapping     *r8map.Map
		want        []methods.Frame
	}{
		{"without a mapping", "a.a.a", nil, []methods.Frame{{Name: "a.a.a"}}},
		{"renamed; what is inside at one line of several is not told", "a.a.a", m, []methods.Frame{{Name: "mail.Inbox.open"}}},
		{"with type and arguments", "void a.a.a(int)", m, []methods.Frame{{Name: "mail.Inbox.open"}}},
		{"overloads are one method", "a.a.b", m, []methods.Frame{{Name: "mail.Inbox.close"}}},
		{"one of two", "a.a.c", m, []methods.Frame{{Name: "mail.Inbox.read|mail.Store.write"}}},
		{"arguments say which", "boolean a.a.c(a.b)", m, []methods.Frame{{Name: "mail.Store.write", Line: 31}}},
		{"one of many", "a.a.e", m, []methods.Frame{{Name: "mail.Inbox.f1|f2|f3|f4|…"}}},
		{"a method inside another one at every line", "a.a.d", m, []methods.Frame{{Name: "mail.Store.sync"}, {Name: "mail.Inbox.poll", Line: 40}}},
		{"a class of the platform", "android.os.Looper.loop", m, []methods.Frame{{Name: "android.os.Looper.loop"}}},
		{"a constructor", "void a.b.<init>(int)", m, []methods.Frame{{Name: "mail.Folder.<init>"}}},
		{"code that several methods share", "a.b.x [DEDUPED]", m, []methods.Frame{{Name: "mail.Folder.x"}}},
	} {
		for _, kind := range []simpleperf.Kind{simpleperf.AOT, simpleperf.JIT, simpleperf.Interpreted} {
			want := append([]methods.Frame(nil), c.want...)
			for i := range want {
				want[i].Kind = kind
			}
			got := symbolize.New(c.mapping)(simpleperf.Frame{Symbol: c.symbol, File: "/data/app/mail-1/base.apk", Kind: kind})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s: %s", c.why, kind, diff)
			}
		}
	}
}

// The mapping does not apply to machine code: a C function named like a renamed class's method
// keeps its name.
func TestNamingMapsOnlyJava(t *testing.T) {
	got := symbolize.New(mapped(t))(simpleperf.Frame{Symbol: "a.a.a", File: "/x.so", Kind: simpleperf.Native})
	if got[0].Name != "a.a.a" {
		t.Errorf("the native symbol a.a.a became %q", got[0].Name)
	}
}

func TestNamingOfTrampolines(t *testing.T) {
	got := symbolize.New(nil)(simpleperf.Frame{Symbol: "art_jni_trampoline", File: "/system/framework/arm64/boot.oat", Kind: simpleperf.AOT})
	want := []methods.Frame{{Name: "art_jni_trampoline", File: "/system/framework/arm64/boot.oat", Kind: simpleperf.AOT}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Frames beyond the cache's limit are named too.
func TestNamingBeyondTheCache(t *testing.T) {
	name := symbolize.New(mapped(t))
	for round := range 2 {
		for i := range 70_000 {
			symbol := fmt.Sprintf("a.b.m%d", i)
			if got := name(simpleperf.Frame{Symbol: symbol, Kind: simpleperf.JIT}); got[0].Name != "mail.Folder"+symbol[3:] {
				t.Fatalf("round %d: %s became %q", round, symbol, got[0].Name)
			}
		}
	}
}

// A mapping with very many methods of one name is processed in time.
func TestNamingOfVeryManyMethods(t *testing.T) {
	var text strings.Builder
	text.WriteString("mail.Inbox -> a.a:\n")
	for i := range 200_000 {
		fmt.Fprintf(&text, "    int f%d() -> a\n", i)
	}
	m, err := r8map.Read(strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	got := symbolize.New(m)(simpleperf.Frame{Symbol: "a.a.a", Kind: simpleperf.AOT})
	if want := "mail.Inbox.f0|f1|f2|f3|…"; got[0].Name != want {
		t.Errorf("the name is %q, want %q", got[0].Name, want)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("one name took %v", took)
	}
}

func FuzzNames(f *testing.F) {
	f.Add("void a.a.a(int)", "/data/app/~~x==/mail-1==/base.apk", string(simpleperf.JIT))
	f.Add("_ZNSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEE21__grow_by_and_replaceEmmmmmmPKc", "/apex/com.android.art@1/lib64/libc++.so", string(simpleperf.Native))
	f.Add("__dl__ZN6soinfo4linkEv", "", string(simpleperf.Unknown))
	m := mapped(f)
	f.Fuzz(func(t *testing.T, symbol, file, kind string) {
		frames := symbolize.New(m)(simpleperf.Frame{Symbol: symbol, File: file, Kind: simpleperf.Kind(kind)})
		if len(frames) == 0 {
			t.Fatal("a frame has vanished")
		}
		for _, f := range frames {
			if f.Name == "" || !utf8.ValidString(f.Name+f.File) || len(f.Name) > 1100 || len(f.File) > 1100 {
				t.Errorf("%q in %q became %+v", symbol, file, f)
			}
		}
	})
}

// The wanted names are those that simpleperf's own tests look for in reports of this recording with
// its mapping, of which these are two classes.
func TestRealRecordingOfAReleasedApp(t *testing.T) {
	data, err := os.ReadFile(corpustest.Path(t, "perfdata", "testdata", "perf_need_proguard_mapping.data"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := simpleperf.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	m, err := r8map.Read(strings.NewReader("androidx.fragment.app.FragmentActivity -> a.h.a.c:\n" +
		"com.example.android.displayingbitmaps.ui.ImageGridFragment -> b.a.a.b.c.b:\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"androidx.fragment.app.FragmentActivity.startActivityForResult",
		"com.example.android.displayingbitmaps.ui.ImageGridFragment.onItemClick",
	} {
		if named(p, symbolize.New(nil), want) || !named(p, symbolize.New(m), want) {
			t.Errorf("%s: found without the mapping %v, with it %v; want it with the mapping alone", want, named(p, symbolize.New(nil), want), named(p, symbolize.New(m), want))
		}
	}
}

func named(p *simpleperf.Profile, name methods.Naming, want string) bool {
	return slices.ContainsFunc(p.Frames, func(f simpleperf.Frame) bool {
		return slices.ContainsFunc(name(f), func(m methods.Frame) bool { return m.Name == want })
	})
}
