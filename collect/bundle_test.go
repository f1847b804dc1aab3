package collect_test

import (
	"archive/zip"
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/collect"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/simulator"
)

// parted splits the job's app into parts: a base that is incomplete alone, and splits. It returns
// their contents by name.
func parted(t *testing.T, job *collect.Job) map[string]string {
	t.Helper()
	rewrite(t, job.App.APK, "version ", "incomplete\nversion ")
	base, err := os.ReadFile(job.App.APK)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{"base-master.apk": string(base)}
	for _, name := range []string{"arm64_v8a", "x86", "xxhdpi", "ldpi", "en", "de"} {
		parts["base-"+name+".apk"] = "apkgate-simulated-app/1\npackage com.example.demo\nversion 1.4.0 140\nsplit config." + name + "\n"
	}
	return parts
}

// A bundle's parts are given as a list, as a folder, and as an archive; of the latter only those
// for the device are installed.
func TestSplitAppIsMeasured(t *testing.T) {
	t.Parallel()
	for _, given := range []string{"list", "folder", "archive"} {
		t.Run(given, func(t *testing.T) {
			t.Parallel()
			s, job := simulated(t, "pixel-7-android-14", simulator.Options{})
			parts := parted(t, &job)
			job.KeepInstalled = true
			want := []string{"base.apk", "split_config.arm64_v8a.apk", "split_config.en.apk", "split_config.xxhdpi.apk"}
			dir := t.TempDir()
			for name, text := range parts {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			switch given {
			case "list":
				job.App.APK, job.App.Splits = filepath.Join(dir, "base-master.apk"), []string{filepath.Join(dir, "base-de.apk")}
				want = []string{"base.apk", "split_config.de.apk"}
			case "folder":
				job.App.Install(dir)
			case "archive":
				job.App.Install(zipFile(t, "app.apks", parts))
			}
			r := collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 3)
			var got []string
			there, err := onPhone(t, s, "pm path com.example.demo")
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(there) {
				got = append(got, filepath.Base(strings.TrimSpace(line)))
			}
			if !slices.Equal(got, want) {
				t.Errorf("installed are %v, want %v", got, want)
			}
			if told := warnedOf(r.Run, "chosen by their names"); told != (given != "list") {
				t.Errorf("warnings: %v", r.Run.Warnings)
			}
		})
	}
}

// The device refuses a base alone, and the advice names the key.
func TestCollectRefusesABaseAlone(t *testing.T) {
	t.Parallel()
	_, job := simulated(t, "pixel-7-android-14", simulator.Options{})
	parted(t, &job)
	r := collect.Collect(t.Context(), job, collect.Options{})
	if e := loss.As(r.Err); e == nil || !strings.Contains(e.Error(), "INSTALL_FAILED_MISSING_SPLIT") || !strings.Contains(e.Hint(), "app.apk") {
		t.Errorf("%v, want that a split is missing, with advice", r.Err)
	}
}

// APKs that are complete apps, such as Gradle's one per ABI, are not parts.
func TestSeveralCompleteAppsAreRefused(t *testing.T) {
	t.Parallel()
	_, job := simulated(t, "pixel-7-android-14", simulator.Options{})
	text, err := os.ReadFile(job.App.APK)
	if err != nil {
		t.Fatal(err)
	}
	job.App.APK = t.TempDir()
	for _, name := range []string{"app-arm64-v8a-release.apk", "app-x86_64-release.apk"} {
		if err := os.WriteFile(filepath.Join(job.App.APK, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := collect.Collect(t.Context(), job, collect.Options{})
	if e := loss.As(r.Err); e == nil || !strings.Contains(e.Hint(), "name the one for this device") {
		t.Errorf("%v, want advice to name one", r.Err)
	}
}

// An error in a part of an archive names the part, and not where it was unpacked.
func TestErrorInAPartNamesItsArchive(t *testing.T) {
	t.Parallel()
	_, job := simulated(t, "pixel-7-android-14", simulator.Options{})
	parts, zipped := parted(t, &job), map[string]string{}
	for name, code := range map[string]string{"base-master.apk": dexHeader(1), "base-en.apk": "none"} {
		part, err := os.ReadFile(zipFile(t, name, map[string]string{"app.simapp": parts[name], "classes.dex": code}))
		if err != nil {
			t.Fatal(err)
		}
		zipped[name] = string(part)
	}
	job.App.Install(zipFile(t, "app.apks", zipped))
	r := collect.Collect(t.Context(), job, collect.Options{})
	wantComplete(t, r, 3)
	if !warnedOf(r.Run, "size of the app", `"base-en.apk" of `+job.App.APK) || warnedOf(r.Run, "apkgate-apks") {
		t.Errorf("%v", r.Run.Warnings)
	}
	_, job = simulated(t, "pixel-7-android-14", simulator.Options{})
	job.App.Install(zipFile(t, "app.apks", map[string]string{"base-master.apk": parts["base-master.apk"]}))
	r = collect.Collect(t.Context(), job, collect.Options{})
	e := loss.As(r.Err)
	if e == nil || !strings.Contains(e.Error(), `"base-master.apk" of `+job.App.APK+": ") || strings.Contains(e.Error(), "apkgate-apks") || !strings.Contains(e.Hint(), "app.apk") {
		t.Errorf("%v", r.Err)
	}
}

// zipFile is an archive of files, none of them compressed.
func zipFile(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, text := range files {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		f.Write([]byte(text))
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

// dexHeader is the header of a dex file with so many methods.
func dexHeader(methods byte) string {
	header := make([]byte, 0x70)
	copy(header, "dex\n035\x00")
	copy(header[0x20:], "\x70\x00\x00\x00\x70\x00\x00\x00\x78\x56\x34\x12")
	header[0x58] = methods
	return string(header)
}

// The size of a build is a metric of its run, the same in each repetition: the download, the
// installed size, and the code.
func TestSizeOfABuildIsMeasured(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"pixel-7-android-14", "nexus-4-android-5.0.0"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			s, job := simulated(t, profile, simulator.Options{})
			text, err := os.ReadFile(job.App.APK)
			if err != nil {
				t.Fatal(err)
			}
			job.App.Install(zipFile(t, "app.apk", map[string]string{
				"app.simapp": string(text), "classes.dex": dexHeader(200), "classes2.dex": dexHeader(7),
				"lib/arm64-v8a/liba.so": strings.Repeat("x", 5000), "lib/mips/liba.so": strings.Repeat("x", 70_000),
			}))
			info, err := os.Stat(job.App.APK)
			if err != nil {
				t.Fatal(err)
			}
			r := collect.Collect(t.Context(), job, collect.Options{})
			wantComplete(t, r, 3)
			want := map[string]float64{"apk.size_bytes": float64(info.Size()), "apk.dex_files": 2, "apk.dex_methods": 207}
			if s.Profile.API >= 23 { // stat came with Android 6; the library for the phone was unpacked
				want["apk.installed_bytes"] = float64(info.Size() + 5000)
			}
			for i, it := range r.Run.Iterations {
				got := map[string]float64{}
				for name, v := range it.Metrics {
					if strings.HasPrefix(name, "apk.") {
						got[name] = v
					}
				}
				if !maps.Equal(got, want) {
					t.Errorf("repetition %d: %v, want %v", i+1, got, want)
				}
			}
		})
	}
}

// A file that is no APK has no size metrics.
func TestASimulatedAppHasNoSize(t *testing.T) {
	t.Parallel()
	_, job := simulated(t, "pixel-7-android-14", simulator.Options{})
	r := collect.Collect(t.Context(), job, collect.Options{})
	wantComplete(t, r, 3)
	for name := range r.Run.Iterations[0].Metrics {
		if strings.HasPrefix(name, "apk.") {
			t.Errorf("%s is told", name)
		}
	}
	if warnedOf(r.Run, "size of the app") {
		t.Errorf("warnings: %v", r.Run.Warnings)
	}
}
