package adb_test

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device/adb"
)

// benchmarkWays runs the benchmark directly and through a real adb server.
func benchmarkWays(b *testing.B, phone *testPhone, run func(b *testing.B, d *adb.Device)) {
	b.Run("direct", func(b *testing.B) {
		_, addr := serve(b, phone)
		d, err := adb.Dial(b.Context(), addr, adb.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer d.Close()
		run(b, d)
	})
	b.Run("server", func(b *testing.B) {
		server := realServer(b)
		_, addr := serve(b, phone)
		d, err := server.Connect(b.Context(), addr)
		if err != nil {
			b.Fatal(err)
		}
		run(b, d)
	})
}

func BenchmarkExec(b *testing.B) {
	benchmarkWays(b, newTestPhone(modernFeatures), func(b *testing.B, d *adb.Device) {
		for b.Loop() {
			if _, err := d.Exec(b.Context(), "getprop ro.build.version.sdk"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkPush(b *testing.B) {
	contents := make([]byte, 8<<20)
	benchmarkWays(b, newTestPhone(modernFeatures), func(b *testing.B, d *adb.Device) {
		b.SetBytes(int64(len(contents)))
		for b.Loop() {
			if err := d.Push(b.Context(), bytes.NewReader(contents), "/f", 0o600, time.Time{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkPull(b *testing.B) {
	phone := newTestPhone(modernFeatures)
	phone.put("/f", string(make([]byte, 8<<20)))
	benchmarkWays(b, phone, func(b *testing.B, d *adb.Device) {
		b.SetBytes(8 << 20)
		for b.Loop() {
			if err := d.Pull(b.Context(), "/f", io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
}
