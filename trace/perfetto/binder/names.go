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

// scores are those of each process, in the order of time.
func (r *Reader) scores() map[int][]score {
	out := map[int][]score{}
	for _, v := range r.memory.Values.Rows {
		track := r.memory.Tracks[v.Track]
		if track.Type != "oom_score_adj" {
			continue
		}
		process := track.Process
		if track.Thread >= 0 {
			process = r.threads.Threads[track.Thread].Process
		}
		if process >= 0 {
			out[process] = append(out[process], score{v.At, int64(v.Value)})
		}
	}
	return out
}

// interfaces are the names of what a server says that it does, by the slice in which it
// got the transaction: of an answer what stands in it, of one that nobody waits for what
// comes next on its thread.
func (r *Reader) interfaces() map[int32]int32 {
	server := make([]bool, len(r.Names))
	for i, name := range r.Names {
		server[i] = isServer(name)
	}
	out := map[int32]int32{}
	waiting := map[int32]int32{} // the last slice without a name, by track
	for i := range r.Slices.Rows {
		s := &r.Slices.Rows[i]
		switch {
		case server[s.Name]:
			if before, known := waiting[s.Track]; known {
				out[before] = s.Name
				delete(waiting, s.Track)
			}
			if s.Parent < 0 || r.Names[r.Slices.Rows[s.Parent].Name] != reader.Reply {
				continue
			}
			if name, known := out[s.Parent]; !known || r.Names[s.Name] < r.Names[name] {
				out[s.Parent] = s.Name
			}
		case r.Names[s.Name] == reader.Received:
			waiting[s.Track] = int32(i)
		}
	}
	return out
}

// isServer reports that a slice's name is one with which generated code says what it
// answers.
func isServer(name string) bool {
	aidl := strings.HasPrefix(name, "AIDL::") && (strings.HasSuffix(name, "Server") || strings.HasSuffix(name, "server"))
	return aidl || strings.HasPrefix(name, "HIDL::") && strings.HasSuffix(name, "server")
}
