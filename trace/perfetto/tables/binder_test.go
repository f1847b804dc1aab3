package tables_test

import "testing"

// sends is a binder_transaction of a thread: to a process, as a reply or not, with flags.
func sends(ns, tid, id, process, reply, flags int64) message {
	return event(ns, tid, 50, message(nil).num(1, id).num(2, 9).num(3, process).num(5, reply).num(6, 3).num(7, flags))
}

// takes is a binder_transaction_received.
func takes(ns, tid, id int64) message { return event(ns, tid, 51, message(nil).num(1, id)) }

// returns is a BR_ code that the kernel returns to a thread, commands a BC_ code that the thread
// sends.
func returns(ns, tid, code int64) message  { return event(ns, tid, 486, message(nil).num(1, code)) }
func commands(ns, tid, code int64) message { return event(ns, tid, 485, message(nil).num(1, code)) }

// twoProcesses are 100 with thread 101, and the server 300 with thread 301.
func twoProcesses() message {
	return message(nil).num(8, 1).in(2, message(nil).
		in(1, message(nil).num(1, 100).num(2, 1).text(3, "com.example")).in(2, message(nil).num(1, 101).text(2, "worker").num(3, 100)).
		in(1, message(nil).num(1, 300).num(2, 1).text(3, "system_server")).in(2, message(nil).num(1, 301).text(2, "binder:300_1").num(3, 300)))
}

func TestBinderTable(t *testing.T) {
	t.Parallel()
	trace := file(twoProcesses(), bundle(0,
		event(5, 1, 326, message(nil).num(2, 900).num(3, 100)),
		sends(10, 101, 1, 300, 0, 0x10), takes(20, 301, 1),
		said(22, 301, "B|300|AIDL::java::IActivityManager::startService::server"), said(28, 301, "E|300"),
		sends(30, 301, 2, 100, 1, 0), takes(40, 101, 2),
		sends(50, 100, 3, 300, 0, 1), takes(60, 301, 3), said(62, 301, "B|300|AIDL::cpp::IFoo::bar::cppServer"), said(64, 301, "E|300"),
		sends(70, 101, 4, 300, 0, 0), // never received
	))
	check(t, trace, "binder",
		"AIDL::java::IActivityManager::startService::server|IActivityManager|startService|0|com.example|100|worker|101|10|30|"+
			"1|system_server|300|binder:300_1|301|20|10|1|0|900|",
		"AIDL::cpp::IFoo::bar::cppServer|IFoo|bar|3|com.example|100||100|50|0|4|system_server|300|binder:300_1|301|60|0|0|1|900|")
}

// TestFailedTransactionEnds has calls without a reply: of a thread whose process died, of one that
// fails in the kernel before it is sent, and of one nested in another.
func TestFailedTransactionEnds(t *testing.T) {
	t.Parallel()
	const transaction, deadReply, failedReply, complete = 0x40406300, 0x7205, 0x7211, 0x7206
	check(t, file(twoProcesses(), bundle(0,
		said(5, 101, "B|100|around"),
		commands(10, 101, transaction), sends(11, 101, 1, 300, 0, 0), returns(12, 101, complete), returns(30, 101, deadReply),
		commands(40, 101, transaction), returns(41, 101, failedReply),
		said(50, 101, "E|100"),
	)), "slices",
		"0|5|45|around||0||0|thread_execution||101|100",
		"1|11|19|binder transaction|binder|1|0|0|thread_execution||101|100")
}
