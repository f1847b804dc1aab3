package labs

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/farm/aws"
	"github.com/apkgate/apkgate/device/farm/browserstack"
	"github.com/apkgate/apkgate/device/farm/firebase"
	"github.com/apkgate/apkgate/device/lab/genymotion"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Farm returns the farm of a configuration, with its devices.
func Farm(c terminal.Console, cfg config.Farm) (farm.Farm, []farm.Device) {
	var devices []farm.Device
	if own := cfg.AWS; own != nil {
		for _, d := range own.Devices {
			devices = append(devices, farm.Device(d))
		}
		return aws.New(computer(c, awsKnows), own.Project, own.Unmetered), devices
	}
	if b := cfg.BrowserStack; b != nil {
		for _, d := range b.Devices {
			devices = append(devices, farm.Device(d))
		}
		return browserstack.New(computer(c, nil)), devices
	}
	for _, d := range cfg.Firebase.Devices {
		devices = append(devices, farm.Device(d))
	}
	return firebase.New(computer(c, gcloudKnows), cfg.Firebase.Project, cfg.Firebase.Bucket), devices
}

// farms returns all farms that leases may name, by kind; the account is that of the lease.
func farms(c terminal.Console) map[string]farm.Farm {
	return map[string]farm.Farm{
		firebase.Kind:     firebase.New(computer(c, gcloudKnows), "", ""),
		aws.Kind:          aws.New(computer(c, awsKnows), "", false),
		browserstack.Kind: browserstack.New(computer(c, nil)),
	}
}

// computer returns this computer, for a farm whose program identifies its user by those variables.
func computer(c terminal.Console, knows []string) farm.Computer {
	f := farm.Computer{
		Getenv: c.Getenv, Pause: c.Pause, Logs: filepath.Join(filepath.Dir(lease.Folder()), "farms"),
		Find: func(name string) (string, bool) { return genymotion.Find(name, c.Getenv) },
	}
	if f.Pause == nil {
		f.Pause = pause
	}
	for _, name := range knows { // which `apkgate action` has removed from its own environment
		if value := c.Getenv(name); value != "" && os.Getenv(name) == "" {
			f.Env = append(f.Env, name+"="+value)
		}
	}
	return f
}

// gcloudKnows are the variables by which gcloud identifies its user.
var gcloudKnows = []string{"GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE", "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE"}

// awsKnows are those by which aws does
// (docs.aws.amazon.com/cli/latest/userguide/cli-configure-envvars.html), on runners and in
// containers too.
var awsKnows = []string{
	"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE",
	"AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CA_BUNDLE",
	"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
}

// pause waits by this computer's clock.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// OfFarm reports whether a lease is of tests on a farm.
func OfFarm(l lease.Lease) bool {
	return l.Kind == firebase.Kind || l.Kind == aws.Kind || l.Kind == browserstack.Kind
}
