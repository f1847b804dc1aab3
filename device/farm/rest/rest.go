// Package rest sends HTTP requests to a farm's service.
//
// It owns what all such services have in common: answers are limited before they are read, a
// refusal is distinguished from a failure, and no secret is sent to another computer
// unencrypted. The requests, and the format of errors, belong to each farm.
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

// Error is an unsuccessful answer.
type Error struct {
	Of      string // who answered: "the service testing"
	Status  int
	Message string // the service's own
}

// Error is the status and the service's message.
func (e *Error) Error() string {
	return strings.TrimSpace(fmt.Sprintf("%s answered %d %s", e.Of, e.Status, e.Message))
}

// Is reports whether a retry would have the same result.
func (e *Error) Is(target error) bool {
	return target == farm.ErrRefused && e.Status < 500 && e.Status != http.StatusTooManyRequests
}

// Final returns an error that a retry would not change.
func Final(err error) error { return finalError{err} }

type finalError struct{ error }

// Is matches farm.ErrRefused.
func (finalError) Is(target error) bool { return target == farm.ErrRefused }

// Unwrap returns the original error.
func (e finalError) Unwrap() error { return e.error }

// StatusOf returns the HTTP status of an error, 0 if there was no answer.
func StatusOf(err error) int {
	var answer *Error
	if errors.As(err, &answer) {
		return answer.Status
	}
	return 0
}

// Safe rejects an address to which a secret would be sent unencrypted.
func Safe(service, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("the address of the service %s is not a URL", service)
	}
	if !farm.Safe(u) {
		return fmt.Errorf("the address of the service %s is %q, want one that begins with https://", service, prose.Short(u.Redacted()))
	}
	return nil
}

// InHouse is Safe for a service in a private network, to which a secret may be sent
// unencrypted: to an address or a name that does not exist outside.
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
	ends := []string{".local", ".lan", ".internal", ".home.arpa"} // RFC 6762, RFC 8375, and common use
	return host != "" && (!strings.Contains(host, ".") || slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(host, end) }))
}

// Client does not follow redirects to another host.
var Client = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Ask sends the request and reads at most the given number of bytes of the answer. refusal
// extracts the message from the text of an error response.
func Ask(client *http.Client, request *http.Request, of string, most int64, refusal func([]byte) string) ([]byte, error) {
	var text bytes.Buffer
	err := Copy(&text, client, request, of, most, refusal)
	return text.Bytes(), err
}

// Copy is Ask with the answer written to w as it arrives.
func Copy(w io.Writer, client *http.Client, request *http.Request, of string, most int64, refusal func([]byte) string) error {
	answer, err := client.Do(request)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // without the URL
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

// mostRefusal limits how much of an error response is read, in bytes.
const mostRefusal = 64 << 10
