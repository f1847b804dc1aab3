package binder_test

import (
	"bytes"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/trace/perfetto/binder"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

func num(m []byte, number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(m, number, protowire.VarintType), v)
}

func in(m []byte, number protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(m, number, protowire.BytesType), v)
}

func event(ns, tid uint64, kind protowire.Number, data []byte) []byte {
	return in(num(num(nil, field.EventTimestamp, ns), field.EventPID, tid), kind, data)
}

// TestEndsOfATransaction has a one-way transaction.
func TestEndsOfATransaction(t *testing.T) {
	t.Parallel()
	sent := num(num(num(nil, field.BinderTransactionDebugID, 7), field.BinderTransactionToProc, 300), field.BinderTransactionFlags, 0x11)
	line := func(pid string) []byte { return in(nil, field.PrintBuf, []byte("B|"+pid+"|x")) }
	var events []byte
	for _, e := range [][]byte{
		event(1, 101, field.EventPrint, line("100")), event(2, 301, field.EventPrint, line("300")),
		event(10, 101, field.EventBinderTransaction, sent),
		event(25, 301, field.EventBinderTransactionReceived, num(nil, field.BinderReceivedDebugID, 7)),
	} {
		events = in(events, field.BundleEvent, e)
	}
	trace := in(nil, field.TracePacket, in(num(nil, field.PacketTrustedPacketSequenceID, 1), field.PacketFtraceEvents, events))
	file := packets.New()
	tracker := threads.New(file)
	r := binder.New(file, tracker)
	if err := file.ReadInOrder(bytes.NewReader(trace), tracker, r); err != nil {
		t.Fatal(err)
	}
	var all []binder.Transaction
	for one := range r.Transactions() {
		all = append(all, *one)
	}
	if len(all) != 1 {
		t.Fatalf("%d transactions: %+v", len(all), all)
	}
	one := all[0]
	if one.Waits || one.Client.At != 10 || one.Server.At != 25*time.Nanosecond || tracker.Threads[one.Server.Thread].TID != 301 {
		t.Errorf("%+v", one)
	}
}
