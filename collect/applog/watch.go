// Package applog detects what went wrong while the workload ran, and what the app did when. It
// reads the device's log of a repetition mark by mark, follows it as it is written, detects
// anomalies, and keeps or drops the recording of the repetition.
//
// It owns how the log is read, how its times are converted to CLOCK_MONOTONIC, what counts as an
// anomaly, and how much is kept of it. It records nothing by itself (package recorders) and does
// not know where kept files are stored (package evidence). An app is not believed on what only the
// system can report (package logcat). What is kept does not depend on how fast a listener was. No
// failure here costs a measurement.
package applog
