package timeline

import "time"

// Transaction is what one thread sends another by binder: a call, or the answer to one.
type Transaction struct {
	ID             int32 // the kernel's number of it
	Sent, Received time.Duration
	From, To       int32 // threads
	Process        int32 // that it is sent to
	Node           int32 // what is called, by the kernel's number; 0 of an answer
	Code           uint32
	OneWay         bool // nobody waits for an answer
	Reply          bool // it is an answer
}
