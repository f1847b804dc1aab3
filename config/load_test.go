package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/config"
	"github.com/google/go-cmp/cmp"
)

// testOptions replace the simulated lab's own profiles.
var testOptions = config.Options{Profiles: []string{"nexus-4", "pixel-5"}}

// moreMetrics matches the number of metrics that a list of the allowed ones omits.
var moreMetrics = regexp.MustCompile(`(allowed: frames\.count, .*, and )\d+`)

// Each invalid file is reported exactly as in its .want file.
func TestInvalidConfigurations(t *testing.T) {
	for _, file := range glob(t, "testdata/wrong/*.yml", 50) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yml"), func(t *testing.T) {
			want := strings.ReplaceAll(string(read(t, strings.TrimSuffix(file, ".yml")+".want")), "{labs}", labs())
			c, err := config.Load("apkgate.yml", read(t, file), testOptions)
			if err == nil {
				t.Fatal("no problem was found")
			}
			if c != nil {
				t.Error("a configuration came with the problems")
			}
			got := moreMetrics.ReplaceAllString(err.Error()+"\n", "${1}{metrics}")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// labs are the keys of the labs, as messages list them.
func labs() string {
	var keys []string
	for field := range reflect.TypeFor[config.Labs]().Fields() {
		keys = append(keys, strings.TrimSuffix(field.Tag.Get("yaml"), ",omitempty"))
	}
	return strings.Join(keys, ", ")
}

func glob(t *testing.T, pattern string, least int) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) < least {
		t.Fatalf("%s: %d files (%v), want at least %d", pattern, len(files), err, least)
	}
	return files
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestMissingFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "apkgate.yml")
	_, err := config.LoadFile(file, testOptions)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("errors.Is(%v, fs.ErrNotExist) = false", err)
	}
	want := file + ": there is no such file\n    hint: apkgate init writes one"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestFolderInsteadOfFile(t *testing.T) {
	dir := t.TempDir()
	_, err := config.LoadFile(dir, testOptions)
	if want := dir + ": read the configuration: it is not a regular file"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestHugeFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "apkgate.yml")
	if err := os.WriteFile(file, []byte(strings.Repeat("# more\n", 400_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := config.LoadFile(file, testOptions)
	if want := file + ": the file is larger than 1 MiB"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
