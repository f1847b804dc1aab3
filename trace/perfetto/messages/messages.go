// Package messages decodes the messages of a Perfetto trace that are read.
//
// messages.txt declares these messages and their fields, with the numbers and types of Perfetto's
// .proto files. For each message, a plain struct and a function that fills it are generated. The
// meaning of a message is its reader's.
//
// A trace may be hostile, and large. A decoder allocates nothing: texts, and messages within a
// message, are parts of the message's bytes, and repeated fields are iterated over on demand. A
// field of another type than declared is skipped. The last of several values of a field counts. A
// message that ends in the middle of a field has the fields before it.
//
// To read another message or field, declare it in messages.txt and run go generate.
package messages

//go:generate go run ./generate
