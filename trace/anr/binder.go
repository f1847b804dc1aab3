package anr

import (
	"bytes"
	"strconv"
)

// transaction parses a line of the kernel's list of binder transactions (drivers/android/ binder.c,
// print_binder_transaction_ilocked), wherever it is, and reports whether it is one. What follows
// the code differs among kernels: since 5.10 the elapsed time, since 6.5 whether it is
// asynchronous.
//
//	outgoing transaction 9812: 0000000000000000 from 4473:4473 to 1296:1532 code 3 flags 10 pri 0:120 r1 elapsed 8012ms
func (r *reader) transaction(text []byte) bool {
	t := Transaction{ElapsedMS: -1, Line: r.number}
	var rest []byte
	for _, place := range []string{Outgoing, Incoming, Pending} {
		if behind, ok := bytes.CutPrefix(text, []byte(place+" ")); ok {
			t.Place, rest = place, bytes.TrimPrefix(behind, []byte("async "))
		}
	}
	rest, ok := bytes.CutPrefix(rest, []byte("transaction "))
	if !ok {
		return false
	}
	id, rest, ok := bytes.Cut(rest, []byte(":"))
	n, err := strconv.ParseInt(string(id), 10, 64)
	if !ok || err != nil || len(rest) > 1000 {
		return false
	}
	t.ID = n
	words := bytes.Fields(rest)
	whole := 0
	for i := 0; i+1 < len(words); i++ {
		value := words[i+1]
		switch string(words[i]) {
		case "from":
			t.FromPID, t.FromTID, whole = pair(value, whole)
		case "to":
			t.ToPID, t.ToTID, whole = pair(value, whole)
		case "code":
			t.Code, _ = strconv.ParseUint(string(value), 16, 64)
		case "flags":
			flags, _ := strconv.ParseUint(string(value), 16, 64)
			t.OneWay = flags&oneWay != 0
		case "elapsed":
			if ms, ok := digits(bytes.TrimSuffix(value, []byte("ms"))); ok {
				t.ElapsedMS = int64(ms)
			}
		}
	}
	if whole != 2 {
		return false
	}
	r.dump.Recognized = true
	if len(r.dump.Binder) >= MaxTransactions {
		r.left.transactions++
		return true
	}
	r.dump.Binder = append(r.dump.Binder, t)
	return true
}

// oneWay is TF_ONE_WAY of the kernel's binder.h.
const oneWay = 0x01

// pair parses "4473:4480" and adds 1 to count if it succeeds.
func pair(text []byte, count int) (pid, tid, n int) {
	left, right, _ := bytes.Cut(text, []byte(":"))
	pid, ok := digits(left)
	tid, also := digits(right)
	if !ok || !also {
		return 0, 0, count
	}
	return pid, tid, count + 1
}
