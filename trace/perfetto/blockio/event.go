package blockio

import (
	"math"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/messages"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// sectorBytes is the size of a sector, whatever the device's own.
const sectorBytes = 512

// Event reads an event (block.proto). The tracker has read it before.
func (r *Reader) Event(e *packets.Event) {
	switch e.Kind {
	case field.EventBlockBioQueue:
		m := messages.BlockBioQueueOf(e.Data)
		r.begin(e, Work{Level: Bio, Device: uint32(m.Dev), Sector: m.Sector, Sectors: m.NrSector, Kind: r.intern(m.Rwbs), Command: r.intern(m.Comm)})
	case field.EventBlockIOStart:
		m := messages.BlockIOStartOf(e.Data)
		r.begin(e, Work{
			Level: IO, Device: uint32(m.Dev), Sector: m.Sector, Sectors: m.NrSector, Bytes: m.Bytes, Kind: r.intern(m.Rwbs), Command: r.intern(m.Comm),
		})
	case field.EventBlockRqIssue:
		m := messages.BlockRqIssueOf(e.Data)
		r.begin(e, Work{
			Level: Request, Device: uint32(m.Dev), Sector: m.Sector, Sectors: m.NrSector, Bytes: m.Bytes, Kind: r.intern(m.Rwbs), Command: r.intern(m.Comm),
		})
	case field.EventBlockBioComplete:
		m := messages.BlockBioCompleteOf(e.Data)
		r.end(e, Work{Level: Bio, Device: uint32(m.Dev), Sector: m.Sector, Sectors: m.NrSector, Error: m.Error})
	case field.EventBlockIODone: // a completed request has no rest, so it reports 0 sectors
		m := messages.BlockIODoneOf(e.Data)
		r.end(e, Work{Level: IO, Device: uint32(m.Dev), Sector: m.Sector})
	case field.EventBlockRqComplete:
		m := messages.BlockRqCompleteOf(e.Data)
		r.end(e, Work{Level: Request, Device: uint32(m.Dev), Sector: m.Sector, Sectors: m.NrSector, Error: m.Error})
	}
}

func (r *Reader) begin(e *packets.Event, w Work) {
	w.At, w.For, w.Thread = e.At, -1, int32(r.threads.Of(e.TID))
	if w.Bytes == 0 {
		w.Bytes = uint32(min(uint64(w.Sectors)*sectorBytes, math.MaxUint32))
	}
	k := key{w.Level, w.Device, w.Sector}
	if _, again := r.open[k]; !again && !r.file.Room("block I/O on its way", len(r.open), maxOpen) {
		return
	}
	if r.file.Room("block I/O", r.Work.Len(), r.Work.Most(MaxRows)) {
		r.open[k] = begun{r.Work.Add(w), w.Sector + uint64(w.Sectors)}
	}
}

// end ends the request that began at a sector. A device may complete a request in parts, from its
// beginning on: the rest is then found at the sector after the part.
func (r *Reader) end(e *packets.Event, done Work) {
	k := key{done.Level, done.Device, done.Sector}
	one, known := r.open[k]
	if !known {
		return
	}
	delete(r.open, k)
	if next := done.Sector + uint64(done.Sectors); done.Sectors > 0 && next < one.end && done.Error == 0 {
		r.open[key{done.Level, done.Device, next}] = one
		return
	}
	r.Work.Edit(one.place, func(w *Work) { w.For, w.Error = e.At-w.At, done.Error })
}
