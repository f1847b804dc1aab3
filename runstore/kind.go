package runstore

import (
	"context"
	"strings"
	"time"
)

// Kind is a kind of store, identified by how its addresses begin.
type Kind struct {
	// Schemes begin the addresses, such as "branch:"; none for the kind whose addresses are paths
	// of files on this computer, which is used for any other address.
	Schemes []string
	// Form shows the form of an address: "branch:REMOTE#BRANCH".
	Form string
	// Open opens the history at an address, and creates it if there is none and that is requested.
	Open func(ctx context.Context, address string, o Opening) (Store, error)
	// ReadOnly is why nothing can be written into such a history; "" where it can.
	ReadOnly string
	// Shown is the address without a password; nil where it never has one.
	Shown func(address string) string
}

// Opening are the options of opening a history. A kind ignores those that it does not use.
type Opening struct {
	ReadOnly bool                         // change nothing in it
	Now      func() time.Time             // dates runs and marks
	Waiting  func(what string, why error) // is called with what takes long
	WorkDir  string                       // a folder of the user's repository; "": the current one
	Copies   string                       // the folder for local copies of remote histories
}

// Has reports whether an address is of this kind by how it begins.
func (k Kind) Has(address string) bool {
	for _, scheme := range k.Schemes {
		if strings.HasPrefix(address, scheme) {
			return true
		}
	}
	return false
}

// Shared reports whether others may use the same history: it is not a local file.
func (k Kind) Shared() bool { return len(k.Schemes) > 0 }

// Show returns the address without a password.
func (k Kind) Show(address string) string {
	if k.Shown == nil {
		return address
	}
	return k.Shown(address)
}
