// Package watch is what went wrong while the workload ran, and what the app did when:
// the device's log of a repetition, read mark by mark, and what is picked from it.
//
// It owns how the log is read and how its times are brought to CLOCK_MONOTONIC. It
// takes a stand: what only the system can say is not believed of an app (package
// logcat), and a loss of the log's beginning is said.
package watch
