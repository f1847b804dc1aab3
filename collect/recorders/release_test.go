package recorders_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/apkgate/apkgate/collect/applog"
	"github.com/apkgate/apkgate/collect/energymeter"
	"github.com/apkgate/apkgate/collect/framesource"
	"github.com/apkgate/apkgate/collect/recorders"
)

// sources is a clone of Perfetto's repository; the test is skipped if there is none.
func sources(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("APKGATE_PERFETTO")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "shared", "perfetto")
	}
	if err := exec.Command("git", "-C", folder, "rev-parse", "--git-dir").Run(); err != nil {
		t.Skip("Perfetto's sources are not there: git clone --filter=blob:none --no-checkout https://github.com/google/perfetto, and set APKGATE_PERFETTO to the folder's absolute path")
	}
	return folder
}

var release = regexp.MustCompile(`^v(\d+)\.\d+$`)

// value matches the value of a field, and not the beginning of a message.
var value = regexp.MustCompile(`: *[^ {]`)

// releases returns the tags of Perfetto's releases from v3, of Android 10, on.
func releases(t *testing.T, folder string) (tags []string) {
	t.Helper()
	out, err := exec.Command("git", "-C", folder, "tag", "--sort=version:refname").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range strings.Fields(string(out)) {
		if m := release.FindStringSubmatch(tag); m != nil && number(m[1]) >= 3 {
			tags = append(tags, tag)
		}
	}
	if len(tags) == 0 {
		t.Skipf("there are no tags of releases in %s: git fetch --tags", folder)
	}
	return tags
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// traceConfig returns the message of a release, from the one file that contains all of it.
func traceConfig(t *testing.T, folder, tag string) protoreflect.MessageDescriptor {
	t.Helper()
	const path = "protos/perfetto/config/perfetto_config.proto"
	text, err := exec.Command("git", "-C", folder, "show", tag+":"+path).Output()
	if err != nil {
		t.Fatalf("%s: %s: %v", tag, path, err)
	}
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
		Accessor: func(asked string) (io.ReadCloser, error) {
			if asked != path {
				return nil, os.ErrNotExist
			}
			return io.NopCloser(bytes.NewReader(text)), nil
		},
	})}
	files, err := compiler.Compile(t.Context(), path)
	if err != nil {
		t.Fatalf("%s: %v", tag, err)
	}
	m := files[0].Messages().ByName("TraceConfig")
	if m == nil {
		t.Fatalf("%s has no TraceConfig", tag)
	}
	return m
}

// TestConfigurationsParseInEveryRelease parses all configurations that a run may use with the
// format of each release: a release accepts the fields that it knows, and the fields that it does
// not know are left out of a configuration that is tried later.
func TestConfigurationsParseInEveryRelease(t *testing.T) {
	t.Parallel()
	folder := sources(t)
	tags := releases(t, folder)
	timeline, shown, energy := framesource.Request(framesource.Timeline), framesource.Request(framesource.Shown), energymeter.Request()
	older, newer := applog.Request([]string{"com.example", "com.example.test"}, 30, true), applog.Request([]string{"com.example"}, 34, true)
	tasks := applog.Request([]string{"com.example"}, 36, true)
	tried := 0
	for _, tag := range tags {
		config, version := traceConfig(t, folder, tag), number(release.FindStringSubmatch(tag)[1])
		for _, asks := range [][]recorders.Request{
			{timeline}, {shown}, {energy}, {older}, {newer}, {older, shown}, {newer, timeline}, {newer, shown},
			{energy, timeline}, {energy, shown}, {energy, older}, {energy, newer, timeline}, {energy, newer, shown}, {tasks}, {energy, tasks, timeline},
		} {
			asksFor := func(who string) bool {
				return slices.ContainsFunc(asks, func(a recorders.Request) bool { return a.Who == who })
			}
			if version < 4 && slices.ContainsFunc(asks, func(a recorders.Request) bool {
				return slices.ContainsFunc(a.Sources(recorders.Capabilities{}), func(s recorders.Source) bool { return s.Name == "track_event" })
			}) {
				continue // no Android 16 has it
			}
			for _, clones := range []bool{false, true} {
				texts, of := recorders.Configurations(asks, clones, 10*time.Minute)
				for i, known := range of {
					takes := (version >= 9 || !known.Symbols || !asksFor(newer.Who)) &&
						(version >= 28 || !known.Properties || !asksFor(energy.Who)) && (version >= 40 || !known.Voltage || !asksFor(energy.Who))
					m := dynamicpb.NewMessage(config)
					err := prototext.Unmarshal([]byte(texts[i]), m)
					if tried++; (err == nil) != takes {
						t.Fatalf("%s, %+v: taken %v, want %v: %v\n%s", tag, known, err == nil, takes, err, texts[i])
					}
					// A field whose name is reserved in a release is skipped silently.
					if took, all := len(value.FindAllString(prototext.Format(m), -1)), len(value.FindAllString(texts[i], -1)); err == nil && took != all {
						t.Fatalf("%s, %+v: %d values were taken of %d of\n%s", tag, known, took, all, texts[i])
					}
				}
			}
		}
	}
	t.Logf("%d configurations by %d releases, %s to %s", tried, len(tags), tags[0], tags[len(tags)-1])
}
