package booted

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/farm/firebase"
	"github.com/apkgate/apkgate/device/genymotion"
	"github.com/apkgate/apkgate/device/lease"
	"github.com/apkgate/apkgate/internal/cli/console"
)

// Farm is the farm of a configuration, with its devices.
func Farm(c console.Console, cfg config.Farm) (farm.Farm, []farm.Device) {
	var devices []farm.Device
	for _, d := range cfg.Firebase.Devices {
		devices = append(devices, farm.Device(d))
	}
	return firebase.New(computer(c), cfg.Firebase.Project, cfg.Firebase.Bucket), devices
}

// farms are those that leases may name, by kind: each lease says in which project it is.
func farms(c console.Console) map[string]farm.Farm {
	return map[string]farm.Farm{firebase.Kind: firebase.New(computer(c), "", "")}
}

func computer(c console.Console) farm.Computer {
	f := farm.Computer{
		Getenv: c.Getenv, Pause: c.Pause, Logs: filepath.Join(filepath.Dir(lease.Folder()), "farms"),
		Find: func(name string) (string, bool) { return genymotion.Find(name, c.Getenv) },
	}
	if f.Pause == nil {
		f.Pause = pause
	}
	for _, name := range gcloudKnows { // which `apkgate action` has taken out of its own environment
		if value := c.Getenv(name); value != "" && os.Getenv(name) == "" {
			f.Env = append(f.Env, name+"="+value)
		}
	}
	return f
}

// gcloudKnows are the variables by which gcloud knows its user.
var gcloudKnows = []string{"GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE", "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE"}

// pause waits by this computer's clock.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// OfFarm reports whether a lease is of a farm's matrix.
func OfFarm(l lease.Lease) bool { return l.Kind == firebase.Kind }
