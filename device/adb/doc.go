// Package adb speaks the Android Debug Bridge's protocol to devices, in two ways:
// through an adb server on this or another computer (Server), and straight to a
// device's own adb port (Dial). Either gives a *Device.
//
// It owns the protocol's services: shell, sync, install, the list of devices. It
// never starts an adb server or any other process: where nothing listens, the
// error says what to do. What a device is asked is for others to decide.
//
// Whatever is waited for has an end: the caller's context closes the stream at
// once, and a device or server that says nothing is given up after the times in
// Options.
package adb
