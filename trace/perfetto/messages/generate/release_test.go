package main

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// TestDeclarationsArePerfettos compares what is declared with Perfetto's own .proto files.
func TestDeclarationsArePerfettos(t *testing.T) {
	t.Parallel()
	folder, at := os.Getenv("APKGATE_PERFETTO"), "v58.2"
	show := func(path string) ([]byte, error) {
		return exec.Command("git", "-C", folder, "show", at+":"+path).Output()
	}
	if folder == "" || exec.Command("git", "-C", folder, "rev-parse", "--git-dir").Run() != nil {
		t.Skip("Perfetto's sources are not there: git clone --filter=blob:none --no-checkout https://github.com/google/perfetto, and set APKGATE_PERFETTO to the folder's absolute path")
	}
	// An extension is a separate file with more fields of a packet or of a track event.
	const android = "protos/third_party/android/frameworks/"
	files := []string{"protos/perfetto/trace/trace.proto", android + "native/tracing/frameworks_native_trace_packet.proto", android + "base/proto/tracing/frameworks_base_track_event.proto"}
	if _, err := show(files[0]); err != nil {
		t.Skipf("there is no %s in %s: git fetch --tags", at, folder)
	}
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
		Accessor: func(path string) (io.ReadCloser, error) {
			b, err := show(path)
			if err != nil {
				return nil, os.ErrNotExist
			}
			return io.NopCloser(strings.NewReader(string(b))), nil
		},
	})}
	compiled, err := compiler.Compile(t.Context(), files...)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]protoreflect.FieldDescriptor{}
	for _, file := range compiled {
		collect(found, map[string]bool{}, file)
	}
	declared, err := os.ReadFile("../messages.txt")
	if err != nil {
		t.Fatal(err)
	}
	list, err := parse(string(declared))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		for _, f := range m.fields {
			d := found[m.proto+"."+f.name]
			switch {
			case d == nil:
				t.Errorf("%s.%s: Perfetto has no such field", m.proto, f.name)
			case int(d.Number()) != f.number || d.Kind().String() != f.kind:
				t.Errorf("%s.%s is %s %d, Perfetto's is %s %d", m.proto, f.name, f.kind, f.number, d.Kind(), d.Number())
			case d.IsList() != (f.repeated || f.packed || f.raw):
				t.Errorf("%s.%s: it is repeated in Perfetto: %v", m.proto, f.name, d.IsList())
			}
		}
	}
}

// collect collects the fields of a file's messages, of those that it imports, and extensions.
func collect(found map[string]protoreflect.FieldDescriptor, seen map[string]bool, file protoreflect.FileDescriptor) {
	if seen[file.Path()] {
		return
	}
	seen[file.Path()] = true
	for i := range file.Imports().Len() {
		collect(found, seen, file.Imports().Get(i))
	}
	name := func(of protoreflect.Descriptor) string {
		return strings.TrimPrefix(string(of.FullName()), string(of.ParentFile().Package())+".")
	}
	var within func(list protoreflect.MessageDescriptors, extensions protoreflect.ExtensionDescriptors)
	within = func(list protoreflect.MessageDescriptors, extensions protoreflect.ExtensionDescriptors) {
		for i := range extensions.Len() {
			e := extensions.Get(i)
			found[name(e.ContainingMessage())+"."+string(e.Name())] = e
		}
		for i := range list.Len() {
			m := list.Get(i)
			for j := range m.Fields().Len() {
				found[name(m)+"."+string(m.Fields().Get(j).Name())] = m.Fields().Get(j)
			}
			within(m.Messages(), m.Extensions())
		}
	}
	within(file.Messages(), file.Extensions())
}
