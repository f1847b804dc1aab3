package boot_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/apkgate/apkgate/device/lab/boot"
)

// The cause, the hint and whether a retry may help are found in the error of a boot, however
// it was wrapped.
func TestError(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("pixel: %w", &boot.Error{Lab: "the SDK's emulator", What: "boot on port 5554: it is taken", Advice: "stop what listens there", Retry: true})
	if got := err.Error(); got != "pixel: the SDK's emulator: boot on port 5554: it is taken" {
		t.Errorf("%q", got)
	}
	var e *boot.Error
	if !errors.As(err, &e) || e.Hint() != "stop what listens there" || !e.Retry {
		t.Errorf("%+v", e)
	}
}
