// Package phone simulates one Android phone: its commands, its services, its log, and the
// simulated apps that run on it. Its output has the format of the Android version in its
// profile.
//
// It owns the activity manager, the workloads and the settings. Other packages own the rest:
// adbd the adb protocol, shell the shell, storage its files, choreo and pipeline the frames,
// power the watts, account the usage, dumps, stacks and recorders its output in dumps, stacks
// of threads, traces and samples, packages the installed apps, screen the screen, home the
// launcher, and build the Android build. A phone lives on its own clock (package clock), which
// advances only when a caller sleeps on it, and by a little with each command. So a phone's
// output is determined by its seed, its profile and the sequence of commands, and a lab of
// hundreds of repetitions takes seconds.
//
// Everything on a phone happens under one lock, in the order of its clock: commands never
// block. One that has to wait, such as an instrumentation or a sleep in a script, leaves a
// continuation in the queue of the clock.
//
// It has more files than other packages: the activity manager, the workloads and the settings
// depend on each other throughout.
package phone
