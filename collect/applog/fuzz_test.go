package applog

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

// FuzzFollow checks that the anomalies detected in any followed log are bounded and don't go back
// in time.
func FuzzFollow(f *testing.F) {
	f.Add([]byte("     1.000  1000  100  100 I am_proc_start: [0,200,10001,com.example.mail,activity,x]\n     2.000 10001  200  200 I HWUI    : Davey! duration=900ms; Flags=0\n"))
	f.Add([]byte("     3.000  1000  100  100 I am_anr  : [0,200,com.example.mail,0,Input dispatching timed out]\n"))
	f.Add([]byte("     3.000  1000  100  100 I am_crash: [1,0,com.example.mail,0,java.lang.Error,,X.java,1]\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		stream := NewStream()
		w := &follower{app: "com.example.mail", usual: map[string]time.Duration{}, stream: stream, frames: true, pids: map[int]bool{}}
		lines := newStream(nil, "m-1")
		w.log = lines
		lines.listen(w.take)
		lines.read(io.MultiReader(strings.NewReader("     0.500  2000  100  100 I apkgate-mark: m-1\n"), bytes.NewReader(log)))
		for n := 0; ; n++ {
			a, ok := stream.Next()
			if !ok {
				return
			}
			if n > maxUnheard {
				t.Fatalf("more than %d are waiting", maxUnheard)
			}
			if a.To < a.From {
				t.Errorf("%+v ends before it begins", a)
			}
		}
	})
}
