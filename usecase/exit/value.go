package exit

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/prose"
)

// OneOf checks a flag's value against what it may be.
func OneOf[T ~string](flag string, value T, allowed []T) error {
	names := make([]string, len(allowed))
	for i, a := range allowed {
		if a == value {
			return nil
		}
		names[i] = string(a)
	}
	return BadValue(flag, string(value), names)
}

// BadValue refuses a flag's value, with what is allowed and what may have been meant.
func BadValue(flag, value string, allowed []string) error {
	return Usage(fmt.Errorf("--%s is %q, want one of %s", flag, prose.Short(value), strings.Join(allowed, ", ")), config.DidYouMean(value, allowed))
}
