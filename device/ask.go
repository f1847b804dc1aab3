package device

import "context"

// Ask is d.Exec for read-only command lines that are run again and again. Where the device
// keeps a shell open for them, the line runs in that shell, so that no process is started for
// it. The line may run twice.
func Ask(ctx context.Context, d Device, command string) (Output, error) {
	if kept, ok := d.(interface {
		Ask(ctx context.Context, command string) (Output, error)
	}); ok {
		return kept.Ask(ctx, command)
	}
	return d.Exec(ctx, command)
}

// KeepsShell reports whether the device keeps a shell open for Ask.
func KeepsShell(ctx context.Context, d Device) bool {
	kept, ok := d.(interface {
		KeepsShell(ctx context.Context) bool
	})
	return ok && kept.KeepsShell(ctx)
}
