//go:build !unix

package secrets

import "errors"

// startAgain fails: this system can't replace the program of a process. Other processes can't
// easily read its environment either.
func startAgain([]string, []byte) error { return errors.ErrUnsupported }

func readSecrets(string) (map[string]string, error) { return nil, errors.ErrUnsupported }
