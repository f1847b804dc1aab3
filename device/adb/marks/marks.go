// Package marks puts a command between marks for a device's shell, and finds its output
// between them: for a terminal that tells no exit code, and for a shell that is asked one
// question after the other.
//
// It neither sends nor waits. It takes a stand: a mark is drawn at random, so that no
// output holds it by chance or guesses it.
package marks

import (
	"crypto/rand"
	"encoding/hex"
)

// New is a mark that nobody knows: 96 bits.
func New() string {
	var b [12]byte
	rand.Read(b[:]) // never fails: crypto/rand
	return "apkgate-" + hex.EncodeToString(b[:])
}
