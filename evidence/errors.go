package evidence

import "errors"

// ErrTooLarge is what a file is refused with that is larger than is kept.
var ErrTooLarge = errors.New("the file is larger than what is kept")
