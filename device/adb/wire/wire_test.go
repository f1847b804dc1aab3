package wire_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/device/adb/wire"
)

// An OKAY and a WRTE byte by byte, worked out from protocol.md: the payload "hi\n" sums to
// 0x68 + 0x69 + 0x0a = 0xdb.
const (
	okayBytes = "OKAY\x01\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xb0\xb4\xbe\xa6"
	wrteBytes = "WRTE\x03\x00\x00\x00\x04\x00\x00\x00\x03\x00\x00\x00\xdb\x00\x00\x00\xa8\xad\xab\xbahi\n"
)

func TestMessage(t *testing.T) {
	for _, test := range []struct {
		message wire.Message
		bytes   string
	}{
		{wire.Message{Command: wire.OKAY, Arg0: 1, Arg1: 2}, okayBytes},
		{wire.Message{Command: wire.WRTE, Arg0: 3, Arg1: 4, Payload: []byte("hi\n")}, wrteBytes},
	} {
		if got := string(test.message.Append(nil, wire.SumsRequired)); got != test.bytes {
			t.Errorf("%v: %q, want %q", test.message.Command, got, test.bytes)
		}
		got, err := wire.ReadMessage(iotest.OneByteReader(strings.NewReader(test.bytes)), 3, wire.SumsRequired)
		if diff := cmp.Diff(test.message, got); diff != "" || err != nil {
			t.Errorf("%v: %v\n%s", test.message.Command, err, diff)
		}
	}
}

func TestMessageErrors(t *testing.T) {
	unsummed := strings.Replace(wrteBytes, "\xdb", "\x00", 1)
	for _, test := range []struct {
		name, bytes string
		sums        wire.Sums
		want        error
	}{
		{"nothing", "", wire.SumsRequired, io.EOF},
		{"half a header", wrteBytes[:10], wire.SumsRequired, io.ErrUnexpectedEOF},
		{"header alone", wrteBytes[:24], wire.SumsRequired, io.ErrUnexpectedEOF},
		{"half a payload", wrteBytes[:25], wire.SumsRequired, io.ErrUnexpectedEOF},
		{"bad magic", strings.Replace(wrteBytes, "\xba", "\xbb", 1), wire.SumsRequired, wire.ErrMalformed},
		{"too long", strings.Replace(wrteBytes, "\x03\x00\x00\x00\xdb", "\x04\x00\x00\x00\xdb", 1), wire.SumsRequired, wire.ErrMalformed},
		{"wrong sum", strings.Replace(wrteBytes, "\xdb", "\xdc", 1), wire.SumsIfGiven, wire.ErrMalformed},
		{"no sum where one must be", unsummed, wire.SumsRequired, wire.ErrMalformed},
		{"no sum where one may be", unsummed, wire.SumsIfGiven, nil},
		{"wrong sum where none is asked for", strings.Replace(wrteBytes, "\xdb", "\xdc", 1), wire.SumsIgnored, nil},
	} {
		if _, err := wire.ReadMessage(strings.NewReader(test.bytes), 3, test.sums); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

func TestSumsAt(t *testing.T) {
	if wire.SumsAt(wire.Version, wire.VersionMin) != wire.SumsRequired {
		t.Error("a device of the first version sums payloads")
	}
	if wire.SumsAt(wire.Version, wire.VersionNoSums+1) != wire.SumsIgnored {
		t.Error("newer devices sum nothing")
	}
}

func TestBanner(t *testing.T) {
	b := wire.ParseBanner("device:s1:ro.product.name=n;ro.product.model=A=B;junk;features=cmd, shell_v2,,;\x00")
	want := wire.Banner{Type: "device", Features: []string{"cmd", "shell_v2"}}
	if diff := cmp.Diff(want, b); diff != "" {
		t.Error(diff)
	}
	if !b.Has(wire.FeatureCmd) || b.Has("cm") {
		t.Error("features are not distinguished")
	}
	if old := wire.ParseBanner("device::"); old.Type != "device" || len(old.Features) != 0 {
		t.Errorf("an old device's banner: %+v", old)
	}
}

func TestHostStrings(t *testing.T) {
	frame, err := wire.AppendHostString(nil, "host:version")
	if string(frame) != "000chost:version" || err != nil {
		t.Errorf("%q, %v", frame, err)
	}
	if _, err := wire.AppendHostString(nil, strings.Repeat("x", 0x10000)); err == nil {
		t.Error("65,536 bytes were taken")
	}
	if s, err := wire.ReadHostString(strings.NewReader("000Chost:version and more")); s != "host:version" || err != nil {
		t.Errorf("%q, %v", s, err)
	}
	for _, bad := range []string{"+00chost:version", "00 chost:version", "zzzz"} {
		if _, err := wire.ReadHostString(strings.NewReader(bad)); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%q: %v, want ErrMalformed", bad, err)
		}
	}
	var failure *wire.HostFailure
	if err := wire.ReadHostStatus(strings.NewReader("FAIL0003why")); !errors.As(err, &failure) || failure.Text != "why" {
		t.Errorf("%v, want the reason", err)
	}
	if err := wire.ReadHostStatus(strings.NewReader("HTTP/1.1")); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("%v, want ErrMalformed", err)
	}
}

func TestShellPackets(t *testing.T) {
	input := "\x01\x05\x00\x00\x00hello" + "\x02\x00\x00\x00\x00" + "\x03\x01\x00\x00\x00\x2a"
	if got := string(wire.AppendShellPacket(nil, wire.ShellStdout, []byte("hello"))); got != input[:10] {
		t.Errorf("%q, want %q", got, input[:10])
	}
	r := wire.NewShellReader(strings.NewReader(input))
	var got []string
	p := make([]byte, 3)
	for {
		id, n, err := r.Read(p)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(rune('0'+id))+string(p[:n]))
	}
	if diff := cmp.Diff([]string{"1hel", "1lo", "2", "3*"}, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []struct {
		input string
		want  error
	}{
		{"\x09\x00\x00\x00\x00", wire.ErrMalformed},
		{"\x01\x05\x00", io.ErrUnexpectedEOF},
		{"\x01\x05\x00\x00\x00", io.ErrUnexpectedEOF},
	} {
		if _, _, err := wire.NewShellReader(strings.NewReader(bad.input)).Read(p); !errors.Is(err, bad.want) {
			t.Errorf("%q: %v, want %v", bad.input, err, bad.want)
		}
	}
}

func TestStat(t *testing.T) {
	// Mode 0100644, 5 bytes, 2020-09-13 12:26:40 UTC = 1600000000 = 0x5f5e1000.
	file := wire.Stat{Mode: 0o100644, Size: 5, Modified: time.Unix(1_600_000_000, 0)}
	const v1 = "STAT\xa4\x81\x00\x00\x05\x00\x00\x00\x00\x10\x5e\x5f"
	if got := string(wire.AppendStat(nil, file)); got != v1 {
		t.Errorf("%q, want %q", got, v1)
	}
	v2 := wire.AppendStat2(nil, wire.SyncLstat, file)
	if len(v2) != 72 || string(v2[:4]) != "LST2" || string(v2[24:28]) != "\xa4\x81\x00\x00" || v2[40] != 5 || string(v2[56:60]) != "\x00\x10\x5e\x5f" {
		t.Errorf("version 2: %q", v2)
	}
	missing := wire.AppendStat2(nil, wire.SyncStat2, wire.Stat{Error: wire.ENOENT})
	if want := "STA2\x02\x00\x00\x00" + strings.Repeat("\x00", 64); string(missing) != want {
		t.Errorf("no such file: %q, want %q", missing, want)
	}
}

func TestDirectory(t *testing.T) {
	list := wire.AppendListEnd(wire.AppendEntry(nil, "dir", wire.Stat{Mode: 0o040755, Modified: time.Unix(1, 0)}))
	if want := "DENT\xed\x41\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x03\x00\x00\x00dir" + "DONE" + strings.Repeat("\x00", 16); string(list) != want {
		t.Errorf("%q, want %q", list, want)
	}
}

func TestPublicKeyErrors(t *testing.T) {
	for _, bad := range []string{"", "hello", "AAAA", strings.Repeat("A", 700), strings.Repeat("A", 10_000)} {
		if _, err := wire.DecodePublicKey(bad); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%.10q: %v, want ErrMalformed", bad, err)
		}
	}
}

// FuzzDecoders tests that every decoder respects its limits, never panics, ends only with an
// error, and that decoded values encode to the same bytes.
func FuzzDecoders(f *testing.F) {
	for _, seed := range []string{
		okayBytes, wrteBytes, "000chost:version", "FAIL0003why", "\x01\x05\x00\x00\x00hello",
		"STAT\xa4\x81\x00\x00\x05\x00\x00\x00\x00\x10\x5e\x5f", "DENT\xff\xff\xff\xff", "device::a=b;features=c",
		string(wire.AppendEntry(nil, "name", wire.Stat{Mode: 0o100600})),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := wire.ReadMessage(bytes.NewReader(data), wire.MaxPayloadV1, wire.SumsRequired)
		if err == nil && !bytes.HasPrefix(data, m.Append(nil, wire.SumsRequired)) {
			t.Errorf("%+v is not what was read from %q", m, data)
		}
		if s, err := wire.ReadHostString(bytes.NewReader(data)); err == nil {
			frame, err := wire.AppendHostString(nil, s)
			if err != nil || !bytes.EqualFold(frame[:4], data[:4]) {
				t.Errorf("%q, %v from %q", frame, err, data)
			}
		}
		wire.ReadHostStatus(bytes.NewReader(data))
		wire.ParseBanner(string(data))
		if key, err := wire.DecodePublicKey(string(data)); err == nil && key.N == nil {
			t.Error("a key without a modulus")
		}
		readAll(t, data)
	})
}

// readAll runs the decoders that read a sequence of values.
func readAll(t *testing.T, data []byte) {
	shell, p := wire.NewShellReader(bytes.NewReader(data)), make([]byte, 16)
	for reads := 0; ; reads++ {
		if _, _, err := shell.Read(p); err != nil {
			break
		}
		if reads > len(data) {
			t.Fatal("shell packets without end")
		}
	}
	r := bytes.NewReader(data)
	if _, size, err := wire.ReadSync(r); err == nil {
		wire.ReadSyncText(r, size, wire.MaxSyncPath)
	}
}
