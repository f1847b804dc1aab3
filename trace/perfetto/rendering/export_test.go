package rendering

// ReadKeeping is Read that keeps so many rows, so that a small trace is looked at in many
// parts.
var ReadKeeping = read
