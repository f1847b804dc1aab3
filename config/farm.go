package config

import "time"

// Farm is a device farm: it takes APKs and gives back a folder, and is paid for by the minute.
type Farm struct {
	// Firebase Test Lab.
	Firebase *Firebase `yaml:"firebase" jsonschema:"required"`
	// How many minutes a test may take on a device, which Test Lab itself keeps.
	Minutes int `yaml:"minutes,omitempty" jsonschema:"minimum=1,maximum=45,default=10"`
	// How many rounds are under way at once, each with a matrix of either build.
	Parallel int `yaml:"parallel,omitempty" jsonschema:"minimum=1,maximum=20,default=3"`
	// What a comparison may cost at most, in US dollars: one that could cost more is refused before anything is started.
	MaxUSD float64 `yaml:"max-usd" jsonschema:"required,minimum=0.01,maximum=10000"`
}

// Within is the longest that a test may take on a device.
func (f Farm) Within() time.Duration { return time.Duration(f.Minutes) * time.Minute }

// Firebase is Firebase Test Lab as a project uses it.
type Firebase struct {
	// The id of the project, as gcloud projects list prints it.
	Project string `yaml:"project" jsonschema:"required"`
	// The bucket for the results. Without it, the one that Test Lab keeps for the project.
	Bucket string `yaml:"bucket,omitempty"`
	// The devices to measure on, each in every matrix.
	Devices []FarmDevice `yaml:"devices" jsonschema:"required,minItems=1,maxItems=20"`
}

// FarmDevice is a kind of phone of a farm.
type FarmDevice struct {
	// The model, as gcloud firebase test android models list prints its MODEL_ID, such as oriole.
	Model string `yaml:"model" jsonschema:"required"`
	// Its Android, of the OS_VERSION_IDS there, such as 33.
	Version string `yaml:"version" jsonschema:"required"`
}

// mostFarmDevices bounds the devices of a matrix.
const mostFarmDevices = 20

func (d *decoder) farm(dst **Farm) reader {
	return func(n *node, path string) {
		f := &Farm{Minutes: 10, Parallel: 3}
		*dst = f
		d.mapping(n, path,
			need("firebase", d.firebase(&f.Firebase)),
			may("minutes", integer(d, &f.Minutes, 1, 45)),
			may("parallel", integer(d, &f.Parallel, 1, 20)),
			need("max-usd", d.number(&f.MaxUSD, 0.01, 10_000)),
		)
	}
}

func (d *decoder) firebase(dst **Firebase) reader {
	return func(n *node, path string) {
		f := &Firebase{}
		*dst = f
		if d.mapping(n, path,
			need("project", d.text(&f.Project, projectRule)),
			may("bucket", d.text(&f.Bucket, bucketRule)),
			need("devices", d.list(1, d.farmDevice(f))),
		) && len(f.Devices) > mostFarmDevices {
			d.at(n, join(path, "devices"), "want at most %d devices, got %d", mostFarmDevices, len(f.Devices))
		}
	}
}

func (d *decoder) farmDevice(f *Firebase) reader {
	lines := map[string]int{}
	return func(n *node, path string) {
		var dev FarmDevice
		if d.mapping(n, path,
			need("model", d.text(&dev.Model, modelRule)),
			need("version", d.looseText(&dev.Version, modelRule)),
		) {
			d.once(lines, dev.Model+" "+dev.Version, n, "model", path, "device")
			f.Devices = append(f.Devices, dev)
		}
	}
}
