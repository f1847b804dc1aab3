package evidence

import "errors"

// Errors that callers tell apart with errors.Is.
var (
	// ErrTooLarge is what a file is refused with that is larger than is kept.
	ErrTooLarge = errors.New("the file is larger than what is kept")
	// ErrFull is what a file is refused with where a run has as much as is kept of one.
	ErrFull = errors.New("as much is kept of the run as is kept of any")
	// ErrAbsent says that a file is not kept here: it lies elsewhere, or is gone.
	ErrAbsent = errors.New("the file is not kept here")
	// ErrDamaged says that a kept file is not what its name says.
	ErrDamaged = errors.New("the kept file is damaged")
	// ErrForeign says that a folder is none of kept evidence, or one of a later apkgate.
	ErrForeign = errors.New("it is no folder of kept evidence that this apkgate knows")
)
