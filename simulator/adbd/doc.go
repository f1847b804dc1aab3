// Package adbd implements the daemon's side of the adb protocol for simulated phones: it
// authenticates, multiplexes streams and serves the shell, exec and sync services over a
// network listener. The phone's answers come from a Phone.
//
// It knows no commands and no files. It is as strict as a phone's own daemon: a client that
// breaks the protocol is disconnected. It can misbehave in the ways that phones do (Drop,
// Refuse, Hang, Offline).
package adbd
