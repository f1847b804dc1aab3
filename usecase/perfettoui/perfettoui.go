// Package perfettoui opens a trace on this computer in Perfetto's own user interface,
// https://ui.perfetto.dev, in the user's browser.
//
// It owns the link and the server behind it. The trace never leaves this computer: the page fetches
// it from this process, over the loopback interface, at an unguessable path, and processes it in
// the browser. Only that page may fetch it, and once it has the whole file, or the user ends it,
// the server stops. It starts no browser: the link is printed.
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

// Address is where the server must listen: the page's content security policy allows only this
// address of this computer, which trace_processor and Perfetto's tools/open_trace_in_ui use too.
const Address = "127.0.0.1:9001"

// View is the part of a trace that is shown first, on the trace's own clock; zero shows all.
type View struct{ From, To time.Duration }

// Link returns the link to the page with the trace of that address
// (https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui).
func Link(trace string, v View) string {
	link := Origin + "/#!/?url=" + url.QueryEscape(trace)
	if v.To > v.From {
		link += fmt.Sprintf("&visStart=%d&visEnd=%d", v.From.Nanoseconds(), v.To.Nanoseconds())
	}
	return link
}

// margin is shown on both sides of the requested part.
const margin = 50 * time.Millisecond

// ViewOf converts a span on CLOCK_MONOTONIC to the clock of the trace, which is mostly
// CLOCK_BOOTTIME. It returns the zero View if the trace does not relate the two.
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
