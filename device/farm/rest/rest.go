// Package rest asks a farm's service by HTTP.
//
// It owns what all such services have in common: that answers are bounded before they are
// read, that a refusal is told apart from a failure, and that no secret goes to another
// computer in the clear. What is asked, and how an error reads, is each farm's.
package rest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/internal/prose"
)

// Error is an answer that is none.
type Error struct {
	Of      string // who has answered: "the service testing"
	Status  int
	Message string // the service's own, for people
}

// Error is the status with what the service says of it.
func (e *Error) Error() string {
	return strings.TrimSpace(fmt.Sprintf("%s answered %d %s", e.Of, e.Status, e.Message))
}

// Is reports whether the answer would be the same again.
func (e *Error) Is(target error) bool {
	return target == farm.ErrRefused && e.Status < 500 && e.Status != http.StatusTooManyRequests
}

// Final is an error that asking again would not change.
func Final(err error) error { return finalError{err} }

type finalError struct{ error }

// Is reports whether it is refused for good: it is.
func (finalError) Is(target error) bool { return target == farm.ErrRefused }

// Unwrap returns what it is.
func (e finalError) Unwrap() error { return e.error }

// StatusOf is the status of an answer that is an error, 0 where there was no answer.
func StatusOf(err error) int {
	var answer *Error
	if errors.As(err, &answer) {
		return answer.Status
	}
	return 0
}

// Safe refuses an address to which a secret would go in the clear.
func Safe(service, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("the address of the service %s is no address", service)
	}
	if !farm.Safe(u) {
		return fmt.Errorf("the address of the service %s is %q, want one that begins with https://", service, prose.Short(u.Redacted()))
	}
	return nil
}

// InHouse is Safe of a service within a private network, to which a secret may go in the clear:
// to an address or a name that nobody has outside.
func InHouse(service, address string) error {
	u, err := url.Parse(address)
	if err == nil && u.Scheme == "http" && u.User == nil && private(u.Hostname()) {
		return nil
	}
	if err == nil && (u.Host == "" || u.User != nil) {
		return fmt.Errorf("the address of the service %s is %q, want https://HOST without a user", service, prose.Short(u.Redacted()))
	}
	return Safe(service, address)
}

func private(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsPrivate()
	}
	ends := []string{".local", ".lan", ".internal", ".home.arpa"} // RFC 6762, RFC 8375, and as they are in use
	return host != "" && (!strings.Contains(host, ".") || slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(host, end) }))
}

// Client follows nobody elsewhere with a secret.
var Client = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Ask has the client send the request, and reads as many bytes of the answer as are allowed.
// refusal is what the service says of an error, of its text.
func Ask(client *http.Client, request *http.Request, of string, most int64, refusal func([]byte) string) ([]byte, error) {
	var text bytes.Buffer
	err := Copy(&text, client, request, of, most, refusal)
	return text.Bytes(), err
}

// Copy is Ask that writes the answer as it comes.
func Copy(w io.Writer, client *http.Client, request *http.Request, of string, most int64, refusal func([]byte) string) error {
	answer, err := client.Do(request)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // without the address
		}
		return fmt.Errorf("ask %s: %w", of, err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode/100 != 2 {
		text, err := io.ReadAll(io.LimitReader(answer.Body, mostRefusal))
		if err != nil {
			return fmt.Errorf("read the answer of %s: %w", of, err)
		}
		return &Error{of, answer.StatusCode, refusal(text)}
	}
	n, err := io.Copy(w, io.LimitReader(answer.Body, most+1))
	switch {
	case err != nil:
		return fmt.Errorf("read the answer of %s: %w", of, err)
	case n > most:
		return Final(fmt.Errorf("the answer of %s has more than %d MiB", of, most>>20))
	}
	return nil
}

// mostRefusal bounds what is looked at of an error, in bytes.
const mostRefusal = 64 << 10
