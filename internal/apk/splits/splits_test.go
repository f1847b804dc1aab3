package splits

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// pixel is a phone of 64 bits with 420 dpi that speaks German.
var pixel = Device{ABIs: []string{"arm64-v8a", "armeabi-v7a", "armeabi"}, Density: 420, Languages: []string{"de"}, API: 34}

// The messages of commands.proto and targeting.proto, put together field by field.

func bytesField(n protowire.Number, parts ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), slices.Concat(parts...))
}

func textField(n protowire.Number, s string) []byte { return bytesField(n, []byte(s)) }

func number(n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), v)
}

// either is a targeting: its values, and those of its siblings.
func either(values, alternatives [][]byte) []byte {
	var out []byte
	for _, v := range values {
		out = append(out, bytesField(1, v)...)
	}
	for _, v := range alternatives {
		out = append(out, bytesField(2, v)...)
	}
	return out
}

func aliases(numbers ...uint64) (out [][]byte) {
	for _, n := range numbers {
		out = append(out, number(1, n))
	}
	return out
}

func texts(list ...string) (out [][]byte) {
	for _, w := range list {
		out = append(out, []byte(w))
	}
	return out
}

// levels are the minimum API levels of a targeting.
func levels(list ...uint64) (out [][]byte) {
	for _, n := range list {
		out = append(out, bytesField(1, number(1, n)))
	}
	return out
}

func apkOf(path string, target []byte) []byte {
	return bytesField(2, bytesField(1, target), textField(2, path), bytesField(3))
}

func moduleOf(name string, delivery uint64, apks ...[]byte) []byte {
	return bytesField(2, append([][]byte{bytesField(1, textField(1, name), number(6, delivery))}, apks...)...)
}

// The numbers of targeting.proto.
const (
	armv7, arm64, x86                      = 2, 3, 4
	hdpi, xhdpi, xxhdpi, xxxhdpi           = 5, 6, 7, 8
	forABI, forLanguage, forDensity        = 1, 3, 4 // fields of ApkTargeting
	variantAPI, variantABI, withApp        = 1, 2, 1
	onDemand                        uint64 = 2
)

// bundle is the contents of an app with a base, a feature on demand, and an older standalone
// variant.
func bundle() []byte {
	base := moduleOf("base", withApp,
		apkOf("splits/base-master.apk", nil),
		apkOf("splits/base-arm64_v8a.apk", bytesField(forABI, either(aliases(arm64), aliases(armv7, x86)))),
		apkOf("splits/base-armeabi_v7a.apk", bytesField(forABI, either(aliases(armv7), aliases(arm64, x86)))),
		apkOf("splits/base-x86.apk", bytesField(forABI, either(aliases(x86), aliases(arm64, armv7)))),
		apkOf("splits/base-xhdpi.apk", bytesField(forDensity, either(aliases(xhdpi), aliases(hdpi, xxhdpi)))),
		apkOf("splits/base-xxhdpi.apk", bytesField(forDensity, either(aliases(xxhdpi), aliases(hdpi, xhdpi)))),
		apkOf("splits/base-hdpi.apk", bytesField(forDensity, either(aliases(hdpi), aliases(xhdpi, xxhdpi)))),
		apkOf("splits/base-de.apk", bytesField(forLanguage, either(texts("de"), nil))),
		apkOf("splits/base-en.apk", bytesField(forLanguage, either(texts("en"), nil))),
		apkOf("splits/base-other_lang.apk", bytesField(forLanguage, either(nil, texts("de", "en")))),
	)
	chat := moduleOf("chat", onDemand, apkOf("splits/chat-master.apk", nil))
	newer := bytesField(1, bytesField(1, bytesField(variantAPI, either(levels(21), levels(0)))), base, chat, number(3, 1))
	whole := bytesField(2, bytesField(1, textField(1, "base"), number(6, withApp)), bytesField(2, textField(2, "standalones/standalone-armeabi_v7a.apk"), bytesField(4)))
	older := bytesField(1, bytesField(1, bytesField(variantAPI, either(levels(0), levels(21))), bytesField(variantABI, either(aliases(armv7), aliases(x86)))), whole, number(3, 0))
	return slices.Concat(older, newer, textField(4, "com.example.mail"))
}

// archive writes a zip file: each name with content, or with its own name.
func archive(t *testing.T, name string, contents map[string][]byte, names ...string) string {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, data := range contents {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		f.Write(data)
	}
	for _, name := range names {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		f.Write([]byte(name))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// chosen are the contents of the chosen files: their names in the archive.
func chosen(t *testing.T, path string, d Device) ([]string, []string) {
	t.Helper()
	c, err := Of([]string{path}, d)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range c.Files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(data))
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for _, f := range c.Files {
		if _, err := os.Stat(f); err == nil && !strings.HasPrefix(f, filepath.Dir(path)) {
			t.Errorf("%s is left behind", f)
		}
	}
	slices.Sort(out)
	return out, c.Notes
}

var bundleFiles = []string{
	"splits/base-master.apk", "splits/base-arm64_v8a.apk", "splits/base-armeabi_v7a.apk", "splits/base-x86.apk",
	"splits/base-xhdpi.apk", "splits/base-xxhdpi.apk", "splits/base-hdpi.apk", "splits/base-de.apk", "splits/base-en.apk",
	"splits/base-other_lang.apk", "splits/chat-master.apk", "standalones/standalone-armeabi_v7a.apk",
}

// What bundletool's own matchers choose, worked out by hand from their rules.
func TestOfByTableOfContents(t *testing.T) {
	t.Parallel()
	path := archive(t, "app.apks", map[string][]byte{"toc.pb": bundle()}, bundleFiles...)
	for _, c := range []struct {
		what   string
		device Device
		want   []string
	}{
		{"64 bits, 420 dpi, German", pixel, []string{"splits/base-arm64_v8a.apk", "splits/base-de.apk", "splits/base-master.apk", "splits/base-xxhdpi.apk"}},
		{
			"32 bits, 240 dpi, French and English", Device{ABIs: []string{"armeabi-v7a"}, Density: 240, Languages: []string{"fr", "en"}, API: 26},
			[]string{"splits/base-armeabi_v7a.apk", "splits/base-en.apk", "splits/base-hdpi.apk", "splits/base-master.apk", "splits/base-other_lang.apk"},
		},
		{
			"an emulator whose language and density nobody knows", Device{ABIs: []string{"x86_64", "x86"}, API: 30},
			[]string{"splits/base-de.apk", "splits/base-en.apk", "splits/base-hdpi.apk", "splits/base-master.apk", "splits/base-other_lang.apk", "splits/base-x86.apk", "splits/base-xhdpi.apk", "splits/base-xxhdpi.apk"},
		},
		{"Android 4.4", Device{ABIs: []string{"armeabi-v7a"}, Density: 320, API: 19}, []string{"standalones/standalone-armeabi_v7a.apk"}},
	} {
		got, notes := chosen(t, path, c.device)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
		if onDemand := c.device.API >= 21; onDemand != strings.Contains(strings.Join(notes, " "), "1 module of the app") {
			t.Errorf("%s: told %v", c.what, notes)
		}
	}
	if _, err := Of([]string{path}, Device{ABIs: []string{"mips"}, API: 19}); err == nil {
		t.Error("a phone that no variant is for gets one")
	}
}

func TestOfByName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what  string
		names []string
		want  []string
		told  bool
	}{
		{
			"as they are installed",
			[]string{"base.apk", "split_config.arm64_v8a.apk", "split_config.x86_64.apk", "split_config.xxhdpi.apk", "split_config.hdpi.apk", "split_config.de.apk", "split_config.fr.apk", "split_map.apk", "split_map.config.fr.apk"},
			[]string{"base.apk", "split_config.arm64_v8a.apk", "split_config.de.apk", "split_config.xxhdpi.apk", "split_map.apk"}, true,
		},
		{
			"as bundletool names them",
			[]string{"base-master.apk", "base-arm64_v8a.apk", "base-x86.apk", "base-de.apk", "base-ja_2.apk", "map-master.apk"},
			[]string{"base-arm64_v8a.apk", "base-de.apk", "base-master.apk", "map-master.apk"}, true,
		},
		{"all of them", []string{"base.apk", "config.arm64_v8a.apk", "maps-and-more.apk"}, []string{"base.apk", "config.arm64_v8a.apk", "maps-and-more.apk"}, false},
		{"one for all", []string{"universal.apk", "base-master.apk"}, []string{"universal.apk"}, true},
	} {
		folder := t.TempDir()
		for _, name := range append(c.names, "toc.txt") {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for where, path := range map[string]string{"a folder": folder, "an archive": archive(t, "app.xapk", map[string][]byte{"icon.png": nil}, c.names...)} {
			got, notes := chosen(t, path, pixel)
			if !slices.Equal(got, c.want) {
				t.Errorf("%s, in %s: %v, want %v", c.what, where, got, c.want)
			}
			if where == "a folder" && len(notes) > 0 != c.told {
				t.Errorf("%s: told %v", c.what, notes)
			}
		}
	}
}

func TestOfNamedFiles(t *testing.T) {
	t.Parallel()
	for _, files := range [][]string{{"a.apk", "split_config.x86.apk"}, {archive(t, "one.apk", nil, "x")}} {
		c, err := Of(files, pixel)
		if err != nil || !slices.Equal(c.Files, files) || len(c.Notes) > 0 {
			t.Errorf("%v: %+v, %v", files, c, err)
		}
	}
}

func TestOfRejectsArchives(t *testing.T) {
	t.Parallel()
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "app.apks")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for what, c := range map[string]struct{ path, want string }{
		"no zip file":                 {write("hello"), "not a valid zip file"},
		"nothing":                     {write(""), "not a valid zip file"},
		"a list of contents too long": {write("PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00"), "more than 16 MiB"},
		"no APK in it":                {archive(t, "app.apks", nil, "readme.txt"), "no APK"},
		"contents that are none":      {archive(t, "app.apks", map[string][]byte{"toc.pb": []byte("\xff\xff")}, "a.apk"), "cut short"},
		"an APK that is not there":    {archive(t, "app.apks", map[string][]byte{"toc.pb": bundle()}, "splits/base-master.apk"), "not there"},
		"contents without end":        {archive(t, "app.apks", map[string][]byte{"toc.pb": bytes.Repeat([]byte("\x0a\x00"), 1_000_001)}), "more than 1000000 entries"},
		"no file":                     {filepath.Join(t.TempDir(), "none.apks"), "no such file"},
		"an empty folder":             {t.TempDir(), "no .apk"},
		"splits alone":                {archive(t, "app.apks", nil, "config.de.apk", "config.arm64_v8a.apk"), "the base of an app"},
	} {
		if _, err := Of([]string{c.path}, pixel); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}

func TestUnpackIsLimited(t *testing.T) {
	t.Parallel()
	path := archive(t, "bomb.apks", map[string][]byte{"base.apk": make([]byte, 1<<20)})
	r, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if size, err := unpack(&r.Reader, "base.apk", filepath.Join(t.TempDir(), "x"), 1000); err == nil || size > 1001 {
		t.Errorf("%d bytes, %v", size, err)
	}
}

// Which density is better follows Android's ResourceTypes.cpp: half as far up as down.
func TestBetterDensity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		screen, want int
	}{{120, 120}, {140, 120}, {150, 240}, {160, 240}, {240, 240}, {280, 320}, {420, 480}, {640, 480}} {
		best := 0
		for _, dpi := range []int{120, 240, 320, 480} {
			if (&targeting{dpi: []int{dpi}, otherDPI: []int{120, 240, 320, 480}}).suitsDensity(Device{Density: c.screen}) {
				best = dpi
			}
		}
		if best != c.want {
			t.Errorf("for %d dpi %d is best, want %d", c.screen, best, c.want)
		}
	}
	if !(&targeting{dpi: []int{noDPI}, otherDPI: []int{480}}).suitsDensity(Device{Density: 480}) {
		t.Error("what fits every density is not the best")
	}
}

// FuzzContents checks that the reader ends and that choices are bounded.
func FuzzContents(f *testing.F) {
	f.Add(bundle())
	f.Add([]byte("\x0a\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseTOC(data)
		if err != nil {
			return
		}
		if paths, _, err := c.choose(pixel); err == nil && (len(paths) == 0 || len(paths) > MaxParts) {
			t.Errorf("%d APKs are chosen", len(paths))
		}
	})
}

// Nothing is left behind if unpacking fails in the middle.
func TestUnpackedFilesAreRemovedAfterAnError(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	path := archive(t, "app.apks", map[string][]byte{"toc.pb": bundle()}, "splits/base-master.apk")
	if _, err := Of([]string{path}, pixel); err == nil {
		t.Error("an archive without some of its APKs is taken")
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left", left, err)
	}
}
