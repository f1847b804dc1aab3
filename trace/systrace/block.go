package systrace

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/field"
)

// block is a kind of event of block devices, which has no keys (include/trace/events/block.h of the
// kernel):
//
//	block_rq_issue: 253,0 WS 4096 () 1234 + 8 [com.example]
//	block_rq_complete: 253,0 WS () 1234 + 8 [0]
//
// Its fields are 0 if the event has none. The brackets contain the requesting thread, or an error.
type block struct {
	number, device, sector, sectors, bytes, rwbs, command, failed protowire.Number
}

var blocks = map[string]block{
	"block_bio_queue": {
		number: field.EventBlockBioQueue, device: field.BlockBioQueueDev, sector: field.BlockBioQueueSector, sectors: field.BlockBioQueueNrSector,
		rwbs: field.BlockBioQueueRwbs, command: field.BlockBioQueueComm,
	},
	"block_bio_complete": {
		number: field.EventBlockBioComplete, device: field.BlockBioCompleteDev, sector: field.BlockBioCompleteSector,
		sectors: field.BlockBioCompleteNrSector, rwbs: field.BlockBioCompleteRwbs, failed: field.BlockBioCompleteError,
	},
	"block_rq_issue": {
		number: field.EventBlockRqIssue, device: field.BlockRqIssueDev, sector: field.BlockRqIssueSector, sectors: field.BlockRqIssueNrSector,
		bytes: field.BlockRqIssueBytes, rwbs: field.BlockRqIssueRwbs, command: field.BlockRqIssueComm,
	},
	"block_rq_complete": {
		number: field.EventBlockRqComplete, device: field.BlockRqCompleteDev, sector: field.BlockRqCompleteSector,
		sectors: field.BlockRqCompleteNrSector, rwbs: field.BlockRqCompleteRwbs, failed: field.BlockRqCompleteError,
	},
	"block_io_start": {
		number: field.EventBlockIOStart, device: field.BlockIOStartDev, sector: field.BlockIOStartSector, sectors: field.BlockIOStartNrSector,
		bytes: field.BlockIOStartBytes, rwbs: field.BlockIOStartRwbs, command: field.BlockIOStartComm,
	},
	"block_io_done": {
		number: field.EventBlockIODone, device: field.BlockIODoneDev, sector: field.BlockIODoneSector, sectors: field.BlockIODoneNrSector,
		bytes: field.BlockIODoneBytes, rwbs: field.BlockIODoneRwbs, command: field.BlockIODoneComm,
	},
}

// message appends the event's message, as encoded by Perfetto; false if a part is missing.
func (b *block) message(m, args []byte) ([]byte, bool) {
	head, tail, ok := bytes.Cut(args, []byte(" + "))
	words := bytes.Fields(head)
	if !ok || len(words) < 3 {
		return nil, false
	}
	major, minor, _ := bytes.Cut(words[0], []byte(","))
	high, ok1 := integer(major)
	low, ok2 := integer(minor)
	sector, ok3 := integer(words[len(words)-1])
	count, rest, _ := bytes.Cut(tail, []byte(" "))
	sectors, ok4 := integer(count)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return nil, false
	}
	m = appendNumber(m, b.device, device(high, low))
	m = appendNumber(m, b.sector, sector)
	m = appendNumber(m, b.sectors, sectors)
	m = protowire.AppendBytes(protowire.AppendTag(m, b.rwbs, protowire.BytesType), words[1])
	if size, ok := integer(words[2]); ok && b.bytes != 0 && len(words) > 3 {
		m = appendNumber(m, b.bytes, size)
	}
	// Newer kernels have a priority before the brackets.
	_, within, _ := bytes.Cut(rest, []byte("["))
	within = bytes.TrimSuffix(within, []byte("]"))
	if b.command != 0 {
		m = protowire.AppendBytes(protowire.AppendTag(m, b.command, protowire.BytesType), within)
	} else if failed, ok := integer(within); ok {
		m = appendNumber(m, b.failed, failed)
	}
	return m, true
}

func appendNumber(m []byte, number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(m, number, protowire.VarintType), v)
}

// device returns a device's number as in stat (the kernel's kdev_t.h, new_encode_dev).
func device(major, minor uint64) uint64 { return minor&0xff | major<<8 | minor&^0xff<<12 }
