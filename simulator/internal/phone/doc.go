// Package phone is one simulated Android phone: its commands, its services, its log,
// and the simulated apps that run on it. It answers in the formats of the Android
// version that its profile claims.
//
// It does not speak adb (package adbd does) and has no shell of its own (package shell
// has one, on files of package storage). It does not work out frames (package choreo
// does) or watts (package power does), keeps no books of what was used (package account
// does), and prints neither those (package dumps), nor stacks of threads (package
// stacks), nor traces and samples (package recorders). What is installed is in the hands
// of package packages, the screen in those of package screen. The launcher is package
// home's, and what Android it claims to run package build's. It takes a stand: a phone
// lives on its own clock (package clock), which moves only when it is slept on, and by a
// little with each command. So what a phone prints follows from its seed, its profile
// and what was asked of it in which order, and a lab of hundreds of repetitions takes
// seconds.
//
// Everything on a phone happens under one lock, in the order of its clock:
// commands never wait. What has to wait, such as an instrumentation or a sleep
// in a script, leaves a continuation in the queue of the clock.
//
// It has more files than other packages: what is left is the activity manager, the
// workloads and the settings, which act on each other all the time.
package phone
