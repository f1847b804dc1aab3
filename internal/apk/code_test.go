package apk

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// dex is a dex file of this version and size with so many methods, the rest of it empty. container
// is the size of the file that contains it, from version 041 on.
func dex(version string, size, methods, container int) []byte {
	data := make([]byte, max(size, dexHeader+containerBytes))
	copy(data, "dex\n"+version+"\x00")
	le := binary.LittleEndian
	le.PutUint32(data[0x20:], uint32(size))
	le.PutUint32(data[0x28:], 0x12345678)
	le.PutUint32(data[0x58:], uint32(methods))
	if version >= "041" {
		le.PutUint32(data[0x70:], uint32(container))
	}
	return data
}

func TestReadCode(t *testing.T) {
	t.Parallel()
	base := write(t, map[string][]byte{
		"classes.dex": dex("035", 4000, 65_000, 0), "classes2.dex": dex("039", 200, 1234, 0),
		"assets/classes3.dex": dex("035", 200, 7, 0), "lib/x86/libx.so": []byte("so"),
	})
	feature := write(t, map[string][]byte{"classes.dex": slices.Concat(dex("041", 300, 10, 500), dex("041", 200, 5, 500))})
	resources := write(t, map[string][]byte{"resources.arsc": nil})
	for _, c := range []struct {
		files []string
		want  Code
	}{
		{[]string{base}, Code{2, 66_234}},
		{[]string{base, feature, resources}, Code{4, 66_249}},
		{[]string{resources}, Code{}},
	} {
		if got, err := ReadCode(c.files...); err != nil || got != c.want {
			t.Errorf("%+v, %v; want %+v", got, err, c.want)
		}
	}
}

func TestReadCodeRejects(t *testing.T) {
	t.Parallel()
	for what, data := range map[string][]byte{
		"nothing":               nil,
		"a header cut short":    dex("035", 200, 1, 0)[:100],
		"another format":        bytes.Repeat([]byte("x"), 200),
		"the other byte order":  bytes.Replace(dex("035", 200, 1, 0), []byte("\x78\x56\x34\x12"), []byte("\x12\x34\x56\x78"), 1),
		"too many methods":      dex("035", 200, 1<<25, 0),
		"a container cut short": dex("041", 300, 1, 5000)[:150],
		"a part without a size": dex("041", 0, 1, 5000),
	} {
		if got, err := ReadCode(write(t, map[string][]byte{"classes.dex": data})); err == nil {
			t.Errorf("%s: %+v and no error", what, got)
		}
	}
}

func FuzzCode(f *testing.F) {
	f.Add(dex("035", 4000, 65_000, 0))
	f.Add(slices.Concat(dex("041", 300, 10, 500), dex("041", 200, 5, 500)))
	f.Fuzz(func(t *testing.T, data []byte) {
		var c Code
		if err := c.read(bytes.NewReader(data)); err == nil && (c.DexFiles < 1 || c.Methods < 0 || c.Methods > c.DexFiles*maxMethodsOfDex) {
			t.Errorf("%+v of %d bytes", c, len(data))
		}
		if !strings.HasPrefix(string(data), "dex\n") && c.DexFiles > 0 {
			t.Errorf("%+v of what is no dex file", c)
		}
	})
}
