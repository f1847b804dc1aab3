// Package applog is what went wrong while the workload ran, and what the app did when.
// It reads the device's log of a repetition mark by mark, follows it as it is written,
// notices anomalies, and keeps or drops what was recorded of the repetition.
//
// It owns how the log is read, how its times are brought to CLOCK_MONOTONIC, what
// counts as an anomaly, and how much is kept of it. It records nothing by itself
// (package recorders) and does not know where kept files lie (package evidence). It
// takes a stand: what only the system can say is not believed of an app (package
// logcat); what is kept does not depend on how fast anybody listened; and nothing that
// goes wrong here costs a measurement.
package applog
