// Package pipeline computes the frames of a simulated phone, from the vsync to the screen.
//
// A frame's timing, and whether and why it is janky, is decided here, once, and stored in the
// timeline. Everything that prints frames reads them from there.
package pipeline
