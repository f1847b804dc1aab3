// Package perfettoui opens a trace that lies on this computer in Perfetto's own user
// interface, https://ui.perfetto.dev, in the user's browser.
//
// It owns the link and the server behind it. It takes a stand: the trace leaves this
// computer for nowhere. The page fetches it from this process, over the loopback
// interface, at a path that nobody can guess, and works on it in the browser; only
// that page may, and once it has the whole file, or the user has had enough, the
// server ends. It starts no browser: the link is printed.
package perfettoui

import (
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// Origin is the user interface.
const Origin = "https://ui.perfetto.dev"

// Address is where the server has to listen: of this computer the page's content
// security policy allows this one alone, which is trace_processor's and that of
// Perfetto's tools/open_trace_in_ui too.
const Address = "127.0.0.1:9001"

// View is the part of a trace that is shown first, on the trace's own clock; zero
// shows all.
type View struct{ From, To time.Duration }

// Link is the page with the trace of that address
// (https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui).
func Link(trace string, v View) string {
	link := Origin + "/#!/?url=" + url.QueryEscape(trace)
	if v.To > v.From {
		link += fmt.Sprintf("&visStart=%d&visEnd=%d", v.From.Nanoseconds(), v.To.Nanoseconds())
	}
	return link
}

// margin is shown on both sides of what is asked for.
const margin = 50 * time.Millisecond

// ViewOf is the span, on CLOCK_MONOTONIC, on the clock of the trace, which is mostly
// CLOCK_BOOTTIME. It is the zero View where the trace does not tell how they relate.
func ViewOf(trace io.Reader, from, to time.Duration) (View, error) {
	f := packets.New()
	if err := f.Read(trace); err != nil {
		return View{}, fmt.Errorf("read the trace's clocks: %w", err)
	}
	home := f.Home
	monotonic := f.Clocks.Place(packets.KeyOf(home, 0, packets.ClockMonotonic))
	own := f.Clocks.Own(home)
	if own == nil || monotonic < 0 {
		return View{}, nil
	}
	start, ok := own.Time(packets.Stamp{Clock: monotonic, NS: from.Nanoseconds()})
	end, endOK := own.Time(packets.Stamp{Clock: monotonic, NS: to.Nanoseconds()})
	if !ok || !endOK {
		return View{}, nil
	}
	return View{max(0, start-margin), end + margin}, nil
}
