// Package messages decodes the messages of a Perfetto trace that readers ask for.
//
// Which messages and fields these are is declared in messages.txt, with numbers and types as
// in Perfetto's .proto files; a plain struct and a function that fills it follow from each.
// What a message means is for its reader.
//
// It takes a stand: a trace is hostile, and large. A decoder allocates nothing: texts and
// messages within a message are parts of its bytes, and what is repeated is gone through when
// it is asked for. A field of another type than declared is passed over, of one that comes
// twice the last counts, and a message that ends in the middle of a field has what was before.
//
// To add a message or a field, add it to messages.txt and run go generate.
package messages

//go:generate go run ./generate
