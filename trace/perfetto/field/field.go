// Package field has the numbers of the fields of Perfetto's messages, which are
// the tags of a trace's bytes. It is the one place for them: readers name a field, and say
// no number themselves.
//
// The constants of numbers.go are made from two files of google/perfetto (v58.2), which
// are not kept here: protos/perfetto/trace/perfetto_trace.proto, which holds most messages
// of a trace, and, for the frame timeline,
// protos/third_party/android/frameworks/native/tracing/frameworks_native_trace_packet.proto.
// messages.txt says which messages. A field keeps its number for ever. To add a message,
// save both files from https://raw.githubusercontent.com/google/perfetto/v58.2/ beside this
// one, add a line to messages.txt, and run go generate.
package field

//go:generate go run ./generate perfetto_trace.proto frameworks_native_trace_packet.proto
