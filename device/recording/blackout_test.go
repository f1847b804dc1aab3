package recording_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/recording"
)

// A replaced word keeps its length and form and is the same everywhere; text that only
// resembles a confidential word is kept.
func TestBlackoutBytes(t *testing.T) {
	t.Parallel()
	b := recording.NewBlackout("com.example.mail")
	b.Learn(recording.Packages, "com.bank.secret", "com.example", "com.example.mail")
	b.Learn(recording.Networks, "wifi", "Anna's Home")
	b.Learn(recording.Serials, "R5CT70ABCDE")
	for _, c := range []struct{ text, form string }{
		{"package:com.bank.secret uid:10123", `^package:[a-z]{3}\.[a-z]{4}\.[a-z]{6} uid:10123$`},
		{"am_proc_start: [0,4711,10123,com.bank.secret:push,service]", `^am_proc_start: \[0,4711,10123,[a-z]{3}\.[a-z]{4}\.[a-z]{6}:push,service\]$`},
		{"serial R5CT70ABCDE", `^serial [A-Z][0-9][A-Z]{2}[0-9]{2}[A-Z]{5}$`},
		{`name=anna.b+1@mail.example.org, type=com.google`, `^name=[a-z]{4}\.[a-z]\+[0-9]@[a-z]{4}\.[a-z]{7}\.[a-z]{3}, type=com.google$`},
		{`SSID: "wifi", BSSID: a4:91:b1:0c:2f:7e`, `^SSID: "[a-z]{4}", BSSID: [a-f][0-9]:[0-9]{2}:[a-f][0-9]:[0-9][a-f]:[0-9][a-f]:[0-9][a-f]$`},
		{"inet addr:192.168.178.20  Bcast", `^inet addr:[0-9]{3}\.[0-9]{3}\.[0-9]{3}\.[0-9]{2}  Bcast$`},
		{"[ro.serialno]: [ABC123XYZ]", `^\[ro\.serialno\]: \[[A-Z]{3}[0-9]{3}[A-Z]{3}\]$`},
	} {
		got := b.String(c.text)
		if !regexp.MustCompile(c.form).MatchString(got) || got == c.text {
			t.Errorf("%q becomes %q, want another of the form %s", c.text, got, c.form)
		}
		if again := b.String(c.text); again != got {
			t.Errorf("%q becomes %q and then %q", c.text, got, again)
		}
	}
	for _, text := range []string{
		"com.example.mail/.Main", "com.bank.secretary", "wifi is on", "versionName=10.2.30.4", "android.hardware.power@1.3-service",
		"inet addr:127.0.0.1", "[ro.boot.hardware]: [oriole]", "[init.svc.serial]: [running]", "12:30:45", "",
	} {
		if got := b.String(text); got != text {
			t.Errorf("%q becomes %q, but identifies nobody", text, got)
		}
	}
	words := map[string]int{}
	for _, kind := range b.Report() {
		words[kind.What] = kind.Words
	}
	if words[recording.Packages] != 1 || words[recording.Serials] != 2 || words[recording.Accounts] != 1 || words[recording.Networks] != 1 || words[recording.Addresses] != 2 {
		t.Errorf("it reports %v words", words)
	}
}

// Two recordings of the same device replace its words differently, so that they can't be
// linked.
func TestBlackoutsOfTwoRecordingsDiffer(t *testing.T) {
	t.Parallel()
	text := "R5CT70ABCDE com.bank.secret"
	var got [2]string
	for i := range got {
		b := recording.NewBlackout()
		b.Learn(recording.Serials, "R5CT70ABCDE")
		b.Learn(recording.Packages, "com.bank.secret")
		got[i] = b.String(text)
	}
	if got[0] == got[1] {
		t.Errorf("both say %q", got[0])
	}
}

// A file that is read in parts is blacked out completely: no word escapes at a boundary.
func TestBlackoutCopyAcrossParts(t *testing.T) {
	t.Parallel()
	b := recording.NewBlackout()
	b.Learn(recording.Packages, "com.bank.secret")
	filler := []byte{0, 'x', '.', '@', ' '}
	var text []byte
	random := rand.New(rand.NewPCG(1, 2))
	for len(text) < 13<<20 {
		for range random.IntN(4000) {
			text = append(text, filler[random.IntN(len(filler))])
		}
		text = append(text, "\x00com.bank.secret\x00"...)
	}
	for at := 4<<20 - 520; at < 4<<20; at += 17 { // around the end of the first part
		copy(text[at:], "\x00com.bank.secret\x00")
	}
	var out bytes.Buffer
	n, err := b.Copy(&out, bytes.NewReader(text))
	if err != nil || n != int64(len(text)) || out.Len() != len(text) {
		t.Fatalf("%d of %d bytes, %v", n, len(text), err)
	}
	if bytes.Contains(out.Bytes(), []byte("bank")) {
		t.Error("a word is still there")
	}
}

// The confidential words are read from the device, and none of them is in the folder: not in
// commands, answers, streams, files or errors.
func TestBlackoutOfARecording(t *testing.T) {
	t.Parallel()
	f := newFake()
	secrets := []string{"com.bank.secret", "anna@mail.example.org", "AnnaNet2", "Annas Phone", "R5CT70ABCDE", "86012345678901"}
	f.answers["pm list packages -3 2>/dev/null; echo"] = []string{"package:com.example.mail\npackage:com.bank.secret\n\n"}
	f.answers["dumpsys account 2>/dev/null; echo"] = []string{"  Accounts: 1\n    Account {name=anna@mail.example.org, type=com.google}\n"}
	f.answers["cmd wifi status 2>/dev/null; dumpsys wifi 2>/dev/null | grep SSID; echo"] = []string{"Wifi is connected to \"AnnaNet2\"\nmWifiInfo SSID: \"AnnaNet2\", BSSID: a4:91:b1:0c:2f:7e\n"}
	f.answers["getprop 2>/dev/null; echo"] = []string{"[ro.serialno]: [R5CT70ABCDE]\n[ril.imei]: [86012345678901]\n[ro.product.model]: [SM-G991B]\n"}
	f.answers["settings get global device_name; settings get secure bluetooth_name; settings get secure bluetooth_address; settings get secure android_id; echo"] = []string{"Annas Phone\nSM-G991B\nnull\nnull\n"}
	f.answers["getprop ro.product.model; getprop ro.product.device; getprop ro.product.name; getprop ro.product.manufacturer; getprop ro.product.brand; getprop ro.product.marketname; echo"] = []string{"SM-G991B\no1s\n\nsamsung\nsamsung\n\n"}
	all := strings.Join(secrets, " and ")
	f.answers["dumpsys "+all] = []string{"short: " + all, "long: " + strings.Repeat(all+"\n", 2000)}
	f.answers["getprop ro.product.model"] = []string{"SM-G991B\n"}
	f.files["/data/"+all] = "\x00\x01" + all
	black := recording.NewBlackout("com.example.mail")
	if err := black.LearnFrom(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	dir, head := recorded(t, f, black, func(ctx context.Context, d device.Device, _ device.Clock) {
		said(t, d, "dumpsys "+all)
		said(t, d, "dumpsys "+all)
		said(t, d, "getprop ro.product.model")
		_ = d.Push(ctx, strings.NewReader("\x00"+all), "/data/pushed", 0o644, f.date())
		_ = d.Pull(ctx, "/data/"+all, &bytes.Buffer{})
		_ = d.Pull(ctx, "/none/"+all, &bytes.Buffer{})
		p, err := d.Start(ctx, "logcat "+all)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.printed.Write([]byte("printed " + all + "\n"))
		_ = f.printed.Close()
		said(t, d, "getprop ro.product.model")
		_ = p.Close()
		said(t, d, "getprop ro.product.model")
	})
	text := everything(t, dir)
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("the folder contains %s", secret)
		}
	}
	if !strings.Contains(text, "SM-G991B") {
		t.Error("the phone's model is blacked out, but identifies nobody")
	}
	if len(head.BlackedOut) < 4 {
		t.Errorf("it lists %v", head.BlackedOut)
	}
}
