package timeline

import "time"

// Transaction is a binder transaction between two threads: a call, or its reply.
type Transaction struct {
	ID             int32 // the kernel's number
	Sent, Received time.Duration
	From, To       int32 // threads
	Process        int32 // the target
	Node           int32 // the called node, by the kernel's number; 0 for a reply
	Code           uint32
	OneWay         bool // without a reply
	Reply          bool // a reply
}
