// Package adbd is the daemon's side of the adb protocol, for simulated phones:
// it authenticates, multiplexes streams and serves the shell, exec and sync
// services over a network listener. What the phone answers is behind Phone.
//
// It does not know any command or file. It stays as strict as a phone's own
// daemon: a client that breaks the protocol is disconnected. It can be told to
// misbehave in the ways that phones do (Drop, Refuse, Hang, Offline).
package adbd
