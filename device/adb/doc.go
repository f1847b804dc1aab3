// Package adb speaks the Android Debug Bridge's protocol to devices, in two ways: through an
// adb server on this or another computer (Server), and directly to a device's own adb port
// (Dial). Both return a *Device.
//
// It owns the protocol's services: shell, sync, install, the list of devices. It never starts
// an adb server or any other process: where nothing listens, the error has a hint. Which
// commands a device runs is decided elsewhere.
//
// Every wait is limited. The caller's context closes the stream at once, and a device or
// server that stays silent is given up after the timeouts in Options.
package adb
