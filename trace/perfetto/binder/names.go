package binder

import (
	"strings"
	"time"

	reader "github.com/apkgate/apkgate/trace/perfetto/slices"
)

// score is a process's oom_score_adj from a time on.
type score struct {
	at    time.Duration
	value int64
}

// maxScores limits the changes of scores that are kept.
const maxScores = 1_000_000

// scores returns the scores of each process from their changes on, in chronological order.
func (r *Reader) scores() map[int][]score {
	out := map[int][]score{}
	changes := 0
	for _, v := range r.Memory.Values.All() {
		track := r.Memory.Tracks[v.Track]
		if track.Type != "oom_score_adj" {
			continue
		}
		process := track.Process
		if track.Thread >= 0 {
			process = r.threads.Threads[track.Thread].Process
		}
		of, value := out[process], int64(v.Value)
		if process < 0 || len(of) > 0 && of[len(of)-1].value == value {
			continue
		}
		if r.file.Room("changes of processes' scores", changes, maxScores) {
			changes++
			out[process] = append(of, score{v.At, value})
		}
	}
	return out
}

// interfaces finds the methods that servers name, by the slice in which each received the
// transaction: within it for a reply, the next slice on its thread for a one-way call.
func (r *Reader) interfaces() {
	server := make([]bool, len(r.Names))
	for i, name := range r.Names {
		server[i] = isServer(name)
	}
	waiting := map[int32]int32{} // the last slice without a name, by track
	above := r.Slices.Cursor(together)
	for place, s := range r.Slices.All() {
		r.Interfaces.Add(0)
		switch {
		case server[s.Name]:
			name := s.Name
			if before, known := waiting[s.Track]; known {
				r.Interfaces.Edit(before, func(one *int32) { *one = name })
				delete(waiting, s.Track)
			}
			if s.Parent < 0 {
				continue
			}
			if parent := above.At(s.Parent); parent == nil || r.Names[parent.Name] != reader.Reply {
				continue
			}
			r.Interfaces.Edit(s.Parent, func(one *int32) {
				if *one == 0 || r.Names[name] < r.Names[*one] {
					*one = name
				}
			})
		case r.Names[s.Name] == reader.Received:
			waiting[s.Track] = int32(place)
		}
	}
}

// isServer reports whether a slice's name is one by which generated code names the method that it
// answers.
func isServer(name string) bool {
	aidl := strings.HasPrefix(name, "AIDL::") && (strings.HasSuffix(name, "Server") || strings.HasSuffix(name, "server"))
	return aidl || strings.HasPrefix(name, "HIDL::") && strings.HasSuffix(name, "server")
}
