package evidence

import "errors"

// Errors to test with errors.Is.
var (
	// ErrTooLarge rejects a file that is larger than the limit of one file.
	ErrTooLarge = errors.New("the file is larger than what is kept")
	// ErrFull rejects a file of a run that has reached its limit.
	ErrFull = errors.New("as much is kept of the run as is kept of any")
	// ErrAbsent is returned for a file that is not in this folder: it is elsewhere, or was deleted.
	ErrAbsent = errors.New("the file is not kept here")
	// ErrDamaged is returned for a kept file whose content does not match its digest.
	ErrDamaged = errors.New("the kept file is damaged")
	// ErrForeign is returned for a folder that is no folder of kept evidence, or one of a later
	// apkgate.
	ErrForeign = errors.New("it is no folder of kept evidence that this apkgate knows")
)
