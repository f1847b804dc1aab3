package apk

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// attribute is one of an element's, as aapt2 writes it: its value is a string.
type attribute struct{ name, value string }

type element struct {
	name       string
	attributes []attribute
}

// encode writes a binary AndroidManifest.xml after Android's ResourceTypes.h.
func encode(utf8 bool, elements ...element) []byte {
	words := []string{"name"} // android:name, which the list of resources names
	index := func(text string) uint32 {
		at := slices.Index(words, text)
		if at < 0 {
			at = len(words)
			words = append(words, text)
		}
		return uint32(at)
	}
	le := binary.LittleEndian
	var body []byte
	for _, e := range elements {
		var c []byte
		c = le.AppendUint32(c, 1)          // line
		c = le.AppendUint32(c, 0xFFFFFFFF) // no comment
		c = le.AppendUint32(c, 0xFFFFFFFF) // no namespace
		c = le.AppendUint32(c, index(e.name))
		for _, n := range []uint16{20, 20, uint16(len(e.attributes)), 0, 0, 0} {
			c = le.AppendUint16(c, n)
		}
		for _, a := range e.attributes {
			c = le.AppendUint32(c, 0xFFFFFFFF)
			c = le.AppendUint32(c, index(a.name))
			c = le.AppendUint32(c, 0xFFFFFFFF)                       // no raw value: only the typed one
			if flag, is := strings.CutPrefix(a.value, "flag "); is { // TYPE_INT_BOOLEAN, which is all ones if it is true
				c = append(le.AppendUint16(c, 8), 0, 0x12)
				c = le.AppendUint32(c, map[string]uint32{"true": 0xFFFFFFFF}[flag])
				continue
			}
			c = append(le.AppendUint16(c, 8), 0, 3)
			c = le.AppendUint32(c, index(a.value))
		}
		body = append(body, chunk(0x0102, 16, c)...)
	}
	resources := chunk(0x0180, 8, le.AppendUint32(nil, 0x01010003))
	return chunk(0x0003, 8, slices.Concat(pool(utf8, words), resources, body))
}

// chunk puts a header before the content, whose first part belongs to it.
func chunk(kind, head uint16, content []byte) []byte {
	out := binary.LittleEndian.AppendUint16(nil, kind)
	out = binary.LittleEndian.AppendUint16(out, head)
	return append(binary.LittleEndian.AppendUint32(out, uint32(8+len(content))), content...)
}

func pool(utf8 bool, words []string) []byte {
	le := binary.LittleEndian
	var offsets, texts []byte
	for _, w := range words {
		offsets = le.AppendUint32(offsets, uint32(len(texts)))
		if utf8 {
			texts = append(texts, byte(len(w)), byte(len(w)))
			texts = append(append(texts, w...), 0)
			continue
		}
		units := utf16.Encode([]rune(w))
		texts = le.AppendUint16(texts, uint16(len(units)))
		for _, u := range append(units, 0) {
			texts = le.AppendUint16(texts, u)
		}
	}
	flags := uint32(0)
	if utf8 {
		flags = 1 << 8
	}
	var head []byte
	for _, n := range []uint32{uint32(len(words)), 0, flags, uint32(28 + len(offsets)), 0} {
		head = le.AppendUint32(head, n)
	}
	return chunk(0x0001, 28, slices.Concat(head, offsets, texts))
}

var mail = []element{
	{"manifest", []attribute{{"package", "com.example.mail.test"}}},
	{"uses-permission", []attribute{{"name", "android.permission.INTERNET"}}},
	{"instrumentation", []attribute{{"name", "androidx.test.runner.AndroidJUnitRunner"}}},
	{"instrumentation", []attribute{{"name", ".OwnRunner"}}},
}

// write writes an APK file with these files in it.
func write(t *testing.T, files map[string][]byte) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, data := range files {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "app.apk")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadManifest(t *testing.T) {
	for _, utf8 := range []bool{true, false} {
		m, err := ReadManifest(write(t, map[string][]byte{"classes.dex": nil, "AndroidManifest.xml": encode(utf8, mail...)}))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"androidx.test.runner.AndroidJUnitRunner", "com.example.mail.test.OwnRunner"}
		if m.Package != "com.example.mail.test" || !slices.Equal(m.Runners, want) {
			t.Errorf("UTF-8 %v: %+v", utf8, m)
		}
	}
}

func TestReadManifestRejects(t *testing.T) {
	whole := encode(true, mail...)
	for name, file := range map[string]string{
		"no manifest":         write(t, map[string][]byte{"classes.dex": nil}),
		"a manifest as text":  write(t, map[string][]byte{"AndroidManifest.xml": []byte("<manifest/>")}),
		"a manifest cut":      write(t, map[string][]byte{"AndroidManifest.xml": whole[:len(whole)-7]}),
		"without a package":   write(t, map[string][]byte{"AndroidManifest.xml": encode(true, element{name: "manifest"})}),
		"a manifest too long": write(t, map[string][]byte{"AndroidManifest.xml": make([]byte, maxManifest+1)}),
		"no such file":        filepath.Join(t.TempDir(), "none.apk"),
	} {
		if m, err := ReadManifest(file); err == nil {
			t.Errorf("%s: %+v and no error", name, m)
		}
	}
}

// A class's type is named in the code of the APK that defines it; the name may be split between the
// pieces in which a long file is read.
func TestMayHaveAClass(t *testing.T) {
	const piece = 1 << 20
	long := append(bytes.Repeat([]byte{0}, piece-10), "Lcom/example/ReadMailTest;"...)
	file := write(t, map[string][]byte{"classes.dex": []byte("dex\n035 Lcom/example/Other;"), "classes2.dex": long, "assets/Lcom/example/Asset;": nil})
	for class, want := range map[string]bool{
		"com.example.ReadMailTest": true, "com.example.Other": true, "com.example.ReadMail": false, "com.example.Asset": false,
	} {
		if has, err := MayHave(class, file); err != nil || has != want {
			t.Errorf("%s: %v, %v, want %v", class, has, err, want)
		}
	}
	if _, err := MayHave("com.example.A", write(t, map[string][]byte{"AndroidManifest.xml": nil})); err == nil || !strings.Contains(err.Error(), "no classes.dex") {
		t.Errorf("an APK without code: %v", err)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add(encode(true, mail...))
	f.Add(encode(false, mail...))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := parseManifest(data); err == nil && m.Package == "" {
			t.Error("neither a package nor an error")
		}
	})
}

// A retail phone traces the own sections of debug builds and of apps that the shell may profile, by
// their manifests.
func TestTraceable(t *testing.T) {
	head := element{"manifest", []attribute{{"package", "com.example.mail"}}}
	for _, c := range []struct {
		name     string
		elements []element
		want     bool
	}{
		{"neither", []element{head, {"application", nil}}, false},
		{"a debug build", []element{head, {"application", []attribute{{"debuggable", "flag true"}}}}, true},
		{"a release build that says so", []element{head, {"application", []attribute{{"debuggable", "flag false"}}}}, false},
		{"profileable", []element{head, {"application", nil}, {"profileable", []attribute{{"shell", "flag true"}}}}, true},
		{"profileable, as text", []element{head, {"application", nil}, {"profileable", []attribute{{"shell", "true"}}}}, true},
		{"profileable by the app alone", []element{head, {"application", nil}, {"profileable", []attribute{{"enabled", "flag true"}}}}, false},
		{"not profileable", []element{head, {"application", nil}, {"profileable", []attribute{{"shell", "flag false"}}}}, false},
		{"another element's attribute", []element{head, {"application", nil}, {"activity", []attribute{{"shell", "flag true"}}}}, false},
	} {
		m, err := ReadManifest(write(t, map[string][]byte{"AndroidManifest.xml": encode(true, c.elements...)}))
		if err != nil || m.Traceable() != c.want {
			t.Errorf("%s: %+v, %v", c.name, m, err)
		}
	}
}
