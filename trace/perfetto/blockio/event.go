package blockio

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// sectorBytes is what a sector has, whatever the device's own are.
const sectorBytes = 512

// fields are where an event has what it says (block.proto); 0 for what it doesn't say.
type fields struct{ device, sector, sectors, bytes, kind, command, err protowire.Number }

var (
	bioFields = fields{
		device: field.BlockBioQueueDev, sector: field.BlockBioQueueSector, sectors: field.BlockBioQueueNrSector,
		kind: field.BlockBioQueueRwbs, command: field.BlockBioQueueComm,
	}
	bioEnd = fields{
		device: field.BlockBioCompleteDev, sector: field.BlockBioCompleteSector, sectors: field.BlockBioCompleteNrSector, err: field.BlockBioCompleteError,
	}
	ioFields = fields{
		device: field.BlockIOStartDev, sector: field.BlockIOStartSector, sectors: field.BlockIOStartNrSector, bytes: field.BlockIOStartBytes,
		kind: field.BlockIOStartRwbs, command: field.BlockIOStartComm,
	}
	// Of a request that is done nothing remains, so that it says 0 sectors.
	ioEnd         = fields{device: field.BlockIODoneDev, sector: field.BlockIODoneSector}
	requestFields = fields{
		device: field.BlockRqIssueDev, sector: field.BlockRqIssueSector, sectors: field.BlockRqIssueNrSector, bytes: field.BlockRqIssueBytes,
		kind: field.BlockRqIssueRwbs, command: field.BlockRqIssueComm,
	}
	requestEnd = fields{
		device: field.BlockRqCompleteDev, sector: field.BlockRqCompleteSector, sectors: field.BlockRqCompleteNrSector, err: field.BlockRqCompleteError,
	}
)

// read reads an event; names of it alone where it begins something.
func (r *Reader) read(e *packets.Event, at fields) Work {
	var w Work
	for f := packets.FieldsOf(e.Data); f.Next(); {
		switch f.Number {
		case at.device:
			w.Device = uint32(f.Value)
		case at.sector:
			w.Sector = f.Value
		case at.sectors:
			w.Sectors = uint32(f.Value)
		case at.bytes:
			w.Bytes = uint32(f.Value)
		case at.kind:
			w.Kind = r.intern(f.Text())
		case at.command:
			w.Command = r.intern(f.Text())
		case at.err:
			w.Error = int32(f.Value)
		}
	}
	return w
}

func (r *Reader) begin(e *packets.Event, level Level, at fields) {
	w := r.read(e, at)
	w.At, w.For, w.Level, w.Thread = e.At, -1, level, int32(r.threads.Of(e.TID))
	if w.Bytes == 0 {
		w.Bytes = uint32(min(uint64(w.Sectors)*sectorBytes, math.MaxUint32))
	}
	k := key{level, w.Device, w.Sector}
	if _, again := r.open[k]; !again && !r.file.Room("block I/O on its way", len(r.open), maxOpen) {
		return
	}
	if r.file.Room("block I/O", r.Work.Len(), r.Work.Most(MaxRows)) {
		r.open[k] = begun{r.Work.Add(w), w.Sector + uint64(w.Sectors)}
	}
}

// end ends what began at a sector. A device may do a request in parts, from its beginning
// on: the rest is then found at the sector behind the part.
func (r *Reader) end(e *packets.Event, level Level, at fields) {
	done := r.read(e, at)
	k := key{level, done.Device, done.Sector}
	one, known := r.open[k]
	if !known {
		return
	}
	delete(r.open, k)
	if next := done.Sector + uint64(done.Sectors); done.Sectors > 0 && next < one.end && done.Error == 0 {
		r.open[key{level, done.Device, next}] = one
		return
	}
	r.Work.Edit(one.place, func(w *Work) { w.For, w.Error = e.At-w.At, done.Error })
}
