// Package pipeline works out the frames of a simulated phone: how each goes from a vsync
// to the screen.
//
// It takes a stand: what a frame is, and whether and why it is janky, is decided here,
// once, and stands in the timeline. Whatever prints frames looks there.
package pipeline
