package adb

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Default ports of adb.
const (
	defaultServerPort = "5037"
	defaultDevicePort = "5555"
)

// ServerAddress returns the address of the adb server from the variables that adb itself
// reads: ADB_SERVER_SOCKET ("tcp:5037", "tcp:host:5037"), or else ANDROID_ADB_SERVER_ADDRESS
// and ANDROID_ADB_SERVER_PORT. The default is 127.0.0.1:5037.
func ServerAddress(getenv func(string) string) (string, error) {
	if spec := getenv("ADB_SERVER_SOCKET"); spec != "" {
		return parseSocket(spec)
	}
	host, port := "127.0.0.1", defaultServerPort
	if v := getenv("ANDROID_ADB_SERVER_ADDRESS"); v != "" {
		host = v
	}
	if v := getenv("ANDROID_ADB_SERVER_PORT"); v != "" {
		port = v
	}
	if !validPort(port) {
		return "", fmt.Errorf("reading ANDROID_ADB_SERVER_PORT: %q, want a number from 1 to 65535", port)
	}
	return net.JoinHostPort(host, port), nil
}

func parseSocket(spec string) (string, error) {
	bad := func() (string, error) {
		return "", fmt.Errorf(`reading ADB_SERVER_SOCKET: %q, want "tcp:PORT" or "tcp:HOST:PORT"`, spec)
	}
	rest, ok := strings.CutPrefix(spec, "tcp:")
	if !ok {
		return bad()
	}
	if validPort(rest) {
		return net.JoinHostPort("127.0.0.1", rest), nil
	}
	host, port, err := net.SplitHostPort(rest)
	if err != nil || host == "" || !validPort(port) {
		return bad()
	}
	return net.JoinHostPort(host, port), nil
}

func validPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

// EnvSerial returns the serial in ANDROID_SERIAL, "" where it is unset.
func EnvSerial(getenv func(string) string) string { return getenv("ANDROID_SERIAL") }

// DevicePort adds adb's default port to a host without one. The result is the device's serial.
func DevicePort(hostport string) string {
	if _, _, err := net.SplitHostPort(hostport); err == nil {
		return hostport
	}
	return net.JoinHostPort(strings.Trim(hostport, "[]"), defaultDevicePort)
}
