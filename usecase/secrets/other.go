//go:build !unix

package secrets

import "errors"

// startAgain has no way to put another program into this process's place. Other
// processes can't read its environment as easily either.
func startAgain([]string, []byte) error { return errors.ErrUnsupported }

func readSecrets(string) (map[string]string, error) { return nil, errors.ErrUnsupported }
