package splits

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pick chooses from a table of contents with these variants.
func pick(t *testing.T, d Device, variants ...[]byte) (paths []string, notes string) {
	t.Helper()
	var data []byte
	for _, v := range variants {
		data = append(data, bytesField(1, v)...)
	}
	c, err := parseTOC(data)
	if err != nil {
		t.Fatal(err)
	}
	paths, told, err := c.choose(d)
	if err != nil {
		t.Fatal(err)
	}
	return paths, strings.Join(told, "\n")
}

func wantPaths(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestHighestVariantIsChosen(t *testing.T) {
	t.Parallel()
	of := func(n uint64, path string) []byte {
		return slices.Concat(number(3, n), moduleOf("base", withApp, apkOf(path, nil)))
	}
	got, _ := pick(t, pixel, of(1, "one"), of(7, "seven"), of(3, "three"))
	wantPaths(t, "three that suit", got, "seven")
}

// Files of bundletool before 0.10.2 only say whether a module is delivered on demand.
func TestModulesOfOlderFiles(t *testing.T) {
	t.Parallel()
	module := func(name string, more ...byte) []byte {
		return bytesField(2, bytesField(1, textField(1, name), more), apkOf(name, nil))
	}
	got, notes := pick(t, pixel, slices.Concat(module("base"), module("chat", number(2, 1)...)))
	wantPaths(t, "a base, and a module on demand", got, "base")
	if !strings.Contains(notes, "1 module of the app") || strings.Contains(notes, "textures") {
		t.Errorf("told %q", notes)
	}
}

func TestInstantAppIsNotInstalled(t *testing.T) {
	t.Parallel()
	instant := bytesField(2, textField(2, "instant.apk"), bytesField(5))
	got, _ := pick(t, pixel,
		slices.Concat(number(3, 1), moduleOf("base", withApp, apkOf("base.apk", nil), instant)),
		slices.Concat(number(3, 2), moduleOf("base", withApp, instant)))
	wantPaths(t, "an app, and the same to be played at once", got, "base.apk")
}

// A density may be given in dpi, without an alias.
func TestChooseByDPI(t *testing.T) {
	t.Parallel()
	dpi := func(n uint64) []byte { return number(2, n) }
	for screen, want := range map[int]string{560: "560", 420: "400"} {
		d := pixel
		d.Density = screen
		got, _ := pick(t, d, moduleOf("base", withApp,
			apkOf("560", bytesField(forDensity, either([][]byte{dpi(560)}, [][]byte{dpi(400)}))),
			apkOf("400", bytesField(forDensity, either([][]byte{dpi(400)}, [][]byte{dpi(560)})))))
		wantPaths(t, "a screen of some dpi", got, want)
	}
}

// APKs for some textures, tiers or features are installed, and reported.
func TestChoiceNotesIgnoredTargets(t *testing.T) {
	t.Parallel()
	const forTextures = 6
	textures := bytesField(forTextures, either(aliases(1), aliases(2)))
	vr := bytesField(2, bytesField(1, textField(1, "vr"), number(6, withApp), bytesField(5, bytesField(2, []byte("x")))), apkOf("vr", nil))
	for what, sets := range map[string][]byte{
		"textures":          moduleOf("base", withApp, apkOf("vr", textures)),
		"a feature":         vr,
		"nothing of a kind": moduleOf("base", withApp, apkOf("vr", nil)),
	} {
		got, notes := pick(t, pixel, sets)
		wantPaths(t, what, got, "vr")
		if told := strings.Contains(notes, "all of them are installed"); told != (what != "nothing of a kind") {
			t.Errorf("%s: told %q", what, notes)
		}
	}
}

// A module for later versions of Android is not for this one.
func TestModuleOfALaterAndroid(t *testing.T) {
	t.Parallel()
	later := bytesField(2, bytesField(1, textField(1, "later"), number(6, withApp), bytesField(5, bytesField(1, either(levels(35), nil)))), apkOf("later", nil))
	got, notes := pick(t, pixel, slices.Concat(moduleOf("base", withApp, apkOf("base", nil)), later))
	wantPaths(t, "Android 14", got, "base")
	if !strings.Contains(notes, "1 module of the app") {
		t.Errorf("told %q", notes)
	}
}

// Each module gets the best of its own APKs.
func TestByNameOfSeveralModules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ names, want []string }{
		{
			[]string{"base.apk", "split_config.xxhdpi.apk", "split_config.hdpi.apk", "split_map.config.hdpi.apk"},
			[]string{"base.apk", "split_config.xxhdpi.apk", "split_map.config.hdpi.apk"},
		},
		{
			[]string{"base-master.apk", "base-arm64_v8a.apk", "base-x86_64.apk", "map-master_2.apk", "map-armeabi_v7a.apk"},
			[]string{"base-master.apk", "base-arm64_v8a.apk", "map-master_2.apk", "map-armeabi_v7a.apk"},
		},
		{[]string{"base.apk", "split_config.nodpi.apk", "split_config.xxhdpi.apk"}, []string{"base.apk", "split_config.nodpi.apk"}},
	} {
		got, _, err := byName(c.names, pixel)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v, %v; want %v", got, err, c.want)
		}
	}
}

// bundletool writes a folder instead of an archive with --output-format=DIRECTORY.
func TestOfAFolderWithATableOfContents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, data := range map[string][]byte{"toc.pb": bundle(), "splits/base-master.apk": nil, "stray.apk": nil} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Of([]string{dir}, pixel)
	want := []string{"base-master.apk", "base-arm64_v8a.apk", "base-xxhdpi.apk", "base-de.apk"}
	for i := range want {
		want[i] = filepath.Join(dir, "splits", want[i])
	}
	if err != nil || !slices.Equal(c.Files, want) {
		t.Errorf("%v, %v; want %v", c.Files, err, want)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(want[0]); err != nil {
		t.Errorf("what was given is gone: %v", err)
	}
	outside := bytesField(1, moduleOf("base", withApp, apkOf("../../secret.apk", nil)))
	if err := os.WriteFile(filepath.Join(dir, "toc.pb"), outside, 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Of([]string{dir}, pixel); err == nil {
		t.Errorf("%v is taken", c.Files)
	}
}

// Unpacked files have safe names: those in an archive may be anything.
func TestUnpackedNamesAreSafe(t *testing.T) {
	t.Parallel()
	names := []string{"../../base.apk", "splits/a b\\é\x00.apk", "splits/Az09._-.apk"}
	c, err := Of([]string{archive(t, "app.apks", nil, names...)}, pixel)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	safe := regexp.MustCompile(`^[0-9]{3}_[A-Za-z0-9._-]+\.apk$`)
	for i, file := range c.Files {
		if filepath.Dir(file) != c.dir || !safe.MatchString(filepath.Base(file)) {
			t.Errorf("%q is unpacked to %s", names[i], file)
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != names[i] {
			t.Errorf("%s holds %q, %v", file, text, err)
		}
	}
	if got := filepath.Base(c.Files[2]); got != "002_Az09._-.apk" {
		t.Errorf("a plain name becomes %s", got)
	}
}
