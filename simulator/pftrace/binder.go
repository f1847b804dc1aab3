package pftrace

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/apkgate/apkgate/simulator/internal/timeline"
)

// The flags of a transaction (the kernel's binder.h).
const (
	oneWay    = 0x01
	acceptFDs = 0x10
)

// transactions adds the threads' binder transactions: the sender's event before it wakes the
// receiver, and the receiver's once that runs.
func (k *kernel) transactions(t *timeline.Timeline) {
	for i := range t.Transactions {
		one := &t.Transactions[i]
		if from, ok := k.running(one.From, one.Sent); ok && k.asked.Events["binder_transaction"] {
			k.add(event{at: one.Sent, cpu: from.CPU, rank: sends, pid: one.From, kind: eventSent, body: sent(one)})
		}
		if to, ok := k.running(one.To, one.Received); ok && k.asked.Events["binder_transaction_received"] {
			k.add(event{at: one.Received, cpu: to.CPU, rank: receives, pid: one.To, kind: eventReceived, body: number(nil, 1, uint64(one.ID))})
		}
	}
}

// sent encodes a BinderTransactionFtraceEvent. The kernel knows the receiving thread in
// advance only for a reply.
func sent(t *timeline.Transaction) []byte {
	to, flags := uint64(0), uint64(acceptFDs)
	switch {
	case t.Reply:
		to, flags = uint64(t.To), 0
	case t.OneWay:
		flags |= oneWay
	}
	b := number(number(number(nil, 1, uint64(t.ID)), 2, uint64(t.Node)), 3, uint64(t.Process))
	return number(number(number(number(b, 4, to), 5, protowire.EncodeBool(t.Reply)), 6, uint64(t.Code)), 7, flags)
}
