// Package field has the numbers of the fields of Perfetto's messages, which are
// the tags of a trace's bytes. It is the one place for them: who asks for a kind of packet or
// event, or writes a message, names a field, and says no number itself. Who reads a message has
// a decoder of package messages.
//
// The constants of numbers.go follow from messages.txt of that package, where a message has
// the word "numbers". A field keeps its number for ever.
package field
