package adb_test

import (
	"bytes"
	"io"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb"
)

// benchmarkTransports runs the benchmark directly and through a real adb server.
func benchmarkTransports(b *testing.B, phone *testPhone, run func(b *testing.B, d *adb.Device)) {
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
	benchmarkTransports(b, newTestPhone(modernFeatures), func(b *testing.B, d *adb.Device) {
		for b.Loop() {
			if _, err := d.Exec(b.Context(), "getprop ro.build.version.sdk"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkPush(b *testing.B) {
	contents := make([]byte, 8<<20)
	benchmarkTransports(b, newTestPhone(modernFeatures), func(b *testing.B, d *adb.Device) {
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
	benchmarkTransports(b, phone, func(b *testing.B, d *adb.Device) {
		b.SetBytes(8 << 20)
		for b.Loop() {
			if err := d.Pull(b.Context(), "/f", io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkQuestions reports the CPU time that a reading costs the phone, in a process of its
// own and in the kept shell. This computer's mksh (or else its sh) stands in for the phone's.
// Android's mksh has a built-in cat; Debian's does not.
func BenchmarkQuestions(b *testing.B) {
	phone := newTestPhone(modernFeatures)
	if _, err := exec.LookPath("mksh"); err == nil {
		phone.shell = "mksh"
	}
	const question = "cat /proc/uptime /proc/sys/kernel/random/boot_id /proc/1/stat /proc/1/status 2>/dev/null || pidof none"
	for name, ask := range map[string]func(*adb.Device) (device.Output, error){
		"process": func(d *adb.Device) (device.Output, error) { return d.Exec(b.Context(), question) },
		"kept":    func(d *adb.Device) (device.Output, error) { return d.Ask(b.Context(), question) },
	} {
		b.Run(name, func(b *testing.B) {
			_, addr := serve(b, phone)
			d, err := adb.Dial(b.Context(), addr, adb.Options{})
			if err != nil {
				b.Fatal(err)
			}
			cpu := func() time.Duration { // of the shells that have exited
				var u syscall.Rusage
				if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
					b.Fatal(err)
				}
				return time.Duration(u.Utime.Nano() + u.Stime.Nano())
			}
			before := cpu()
			for b.Loop() {
				if _, err := ask(d); err != nil {
					b.Fatal(err)
				}
			}
			_ = d.Close()
			if name == "kept" {
				<-phone.hungUp
			}
			for deadline := time.Now().Add(10 * time.Second); cpu() == before && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond) // until the shell was waited for
			}
			b.ReportMetric(float64((cpu()-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}
