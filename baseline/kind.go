package baseline

import (
	"context"
	"strings"
	"time"
)

// Kind is a way to keep histories, which is told by how their addresses begin.
type Kind struct {
	// Schemes begin the addresses, such as "branch:"; none where an address is the
	// path of a file on this computer, which is what any other address is taken for.
	Schemes []string
	// Form shows what an address looks like: "branch:REMOTE#BRANCH".
	Form string
	// Open opens the history at an address, making it where there is none and that
	// is asked for.
	Open func(ctx context.Context, address string, o Opening) (Store, error)
	// ReadOnly is why nothing can be written into such a history; "" where it can.
	ReadOnly string
	// Shown is the address without a password; nil where it never has one.
	Shown func(address string) string
}

// Opening is how a history is opened. A kind passes over what it has no use for.
type Opening struct {
	ReadOnly bool                         // nothing is to be changed in it
	Now      func() time.Time             // dates runs and marks
	Waiting  func(what string, why error) // is told what takes so long
	WorkDir  string                       // a folder of the user's repository; "": the current one
	Copies   string                       // the folder for local copies of what is elsewhere
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

// Shared reports whether others keep their runs there too: it is of no file here.
func (k Kind) Shared() bool { return len(k.Schemes) > 0 }

// Show is the address without a password.
func (k Kind) Show(address string) string {
	if k.Shown == nil {
		return address
	}
	return k.Shown(address)
}
