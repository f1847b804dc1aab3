package adbd

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/apkgate/apkgate/device/adb/mux"
	"github.com/apkgate/apkgate/device/adb/wire"
)

// maxForwards limits the ports that one client can forward.
const maxForwards = 100

// firstPort is the first port that the phone assigns if a client lets it choose.
const firstPort = 34_001

// forwards are the phone's ports that are forwarded to one client (adb reverse).
type forwards struct {
	session *mux.Session

	mu    sync.Mutex
	ports []forward
	next  int
}

// forward maps a port of the phone, "tcp:8080", to the client's target.
type forward struct{ local, remote string }

// serve answers reverse:REQUEST. The messages are those of adb.cpp's handle_forward_request.
func (f *forwards) serve(request string, out io.Writer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name, rest, _ := strings.Cut(request, ":")
	switch name {
	case "list-forward":
		var list strings.Builder
		for _, p := range f.ports {
			fmt.Fprintf(&list, "host-1 %s %s\n", p.local, p.remote)
		}
		say(out, "", list.String())
	case "killforward-all":
		f.ports = nil
		io.WriteString(out, "OKAY")
	case "killforward":
		if i := f.find(rest); i >= 0 {
			f.ports = append(f.ports[:i:i], f.ports[i+1:]...)
			io.WriteString(out, "OKAY")
			return
		}
		say(out, "FAIL", fmt.Sprintf("listener '%s' not found", rest))
	case "forward":
		f.add(rest, out)
	default:
		say(out, "FAIL", "unknown reverse service: "+request)
	}
}

// say writes a four-letter word and a string.
func say(out io.Writer, word, text string) {
	frame, err := wire.AppendHostString([]byte(word), text)
	if err == nil {
		out.Write(frame)
	}
}

func (f *forwards) find(local string) int {
	for i, p := range f.ports {
		if p.local == local {
			return i
		}
	}
	return -1
}

// add handles [norebind:]LOCAL;REMOTE.
func (f *forwards) add(request string, out io.Writer) {
	rest, norebind := strings.CutPrefix(request, "norebind:")
	local, remote, ok := strings.Cut(rest, ";")
	port, tcp := strings.CutPrefix(local, "tcp:")
	number, err := strconv.ParseUint(port, 10, 16)
	if !ok || remote == "" || tcp && err != nil || len(f.ports) >= maxForwards {
		say(out, "FAIL", "bad forward: "+request)
		return
	}
	if tcp && number == 0 {
		number = uint64(firstPort + f.next)
		f.next++
		local = fmt.Sprintf("tcp:%d", number)
	}
	switch i := f.find(local); {
	case i >= 0 && norebind:
		say(out, "FAIL", "cannot rebind existing socket")
		return
	case i >= 0:
		f.ports[i].remote = remote
	default:
		f.ports = append(f.ports, forward{local, remote})
	}
	io.WriteString(out, "OKAY")
	if tcp {
		say(out, "", strconv.FormatUint(number, 10))
	}
}

// leads returns the target of a port of the phone, "" if nothing listens.
func (f *forwards) leads(local string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := f.find(local); i >= 0 {
		return f.ports[i].remote
	}
	return ""
}

// DialReverse connects to a port of the phone, "tcp:8080", as an app on it would. The
// connection leads to the client that forwarded the port.
func (d *Daemon) DialReverse(ctx context.Context, local string) (io.ReadWriteCloser, error) {
	d.mu.Lock()
	var all []*forwards
	for _, f := range d.connections {
		if f != nil {
			all = append(all, f)
		}
	}
	d.mu.Unlock()
	for _, f := range all {
		if remote := f.leads(local); remote != "" {
			return f.session.Open(ctx, remote)
		}
	}
	return nil, fmt.Errorf("nothing listens on %s of the simulated phone", local)
}
