package exit

import (
	"fmt"
	"strings"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/prose"
)

// OneOf checks a flag's value against the allowed ones.
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

// BadValue returns the error for a flag's value, with the allowed values and the probably intended
// one.
func BadValue(flag, value string, allowed []string) error {
	return Usage(fmt.Errorf("--%s is %q, want one of %s", flag, prose.Short(value), strings.Join(allowed, ", ")), config.DidYouMean(value, allowed))
}
