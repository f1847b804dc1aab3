package config

import "time"

// Farm configures a device farm: it takes APKs and returns a folder or logs. Exactly one of
// firebase, aws and browserstack is set.
type Farm struct {
	// Firebase Test Lab.
	Firebase *Firebase `yaml:"firebase,omitempty"`
	// AWS Device Farm.
	AWS *AWS `yaml:"aws,omitempty"`
	// BrowserStack App Automate.
	BrowserStack *BrowserStack `yaml:"browserstack,omitempty"`
	// How many minutes a test may take on a device; at least 5 on AWS Device Farm.
	Minutes int `yaml:"minutes,omitempty" jsonschema:"minimum=1,maximum=45,default=10"`
	// How many rounds run at the same time, each with a matrix, a run or a build of either build;
	// or how many of those for single runs.
	Parallel int `yaml:"parallel,omitempty" jsonschema:"minimum=1,maximum=20,default=3"`
	// The largest cost of a command, in US dollars: one whose runs, or rounds of a comparison,
	// could cost more is rejected before anything is started. Not for a farm that does not bill by
	// the minute.
	MaxUSD float64 `yaml:"max-usd,omitempty" jsonschema:"minimum=0.01,maximum=10000"`
}

// farmKeys are the keys of which a farm has exactly one.
var farmKeys = []string{"firebase", "aws", "browserstack"}

// Within returns the longest duration of a test on a device.
func (f Farm) Within() time.Duration { return time.Duration(f.Minutes) * time.Minute }

// Firebase is a project's Firebase Test Lab.
type Firebase struct {
	// The id of the project, as gcloud projects list prints it.
	Project string `yaml:"project" jsonschema:"required"`
	// The bucket for the results. Without it, Test Lab's own bucket of the project.
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

// AWS is a project's AWS Device Farm.
type AWS struct {
	// The ARN of the project, as aws devicefarm list-projects prints it.
	Project string `yaml:"project" jsonschema:"required"`
	// The devices to measure on, each in every run.
	Devices []AWSDevice `yaml:"devices" jsonschema:"required,minItems=1,maxItems=20"`
	// Use the slots that the account rents by the month, and count no cost for them.
	Unmetered bool `yaml:"unmetered,omitempty" jsonschema:"default=false"`
}

// AWSDevice is a kind of phone of AWS Device Farm.
type AWSDevice struct {
	// Its name, as aws devicefarm list-devices prints it, such as Google Pixel 6.
	Model string `yaml:"model" jsonschema:"required"`
	// Its Android, the os there, such as 13.
	Version string `yaml:"version" jsonschema:"required"`
}

// leastAWSMinutes is the shortest limit that AWS Device Farm accepts for a test.
const leastAWSMinutes = 5

// BrowserStack is BrowserStack App Automate: the credentials are in the environment.
type BrowserStack struct {
	// The devices to measure on, each in every build.
	Devices []BrowserStackDevice `yaml:"devices" jsonschema:"required,minItems=1,maxItems=20"`
	// How many device minutes a command may take at most, as the plan is paid and not the minute:
	// one that could take more is rejected before anything is started.
	MaxMinutes int `yaml:"max-minutes" jsonschema:"required,minimum=1,maximum=100000"`
}

// BrowserStackDevice is a kind of phone of BrowserStack's.
type BrowserStackDevice struct {
	// The device, as BrowserStack's list has it, such as Google Pixel 7.
	Model string `yaml:"model" jsonschema:"required"`
	// Its Android, as the list has it, such as "13.0".
	Version string `yaml:"version" jsonschema:"required"`
}

// mostFarmDevices limits the devices of a matrix.
const mostFarmDevices = 20

func (d *decoder) farm(dst **Farm) reader {
	return func(n *node, path string) {
		f := &Farm{Minutes: 10, Parallel: 3}
		*dst = f
		if !d.mapping(n, path,
			may("firebase", d.firebase(&f.Firebase)),
			may("aws", d.aws(&f.AWS)),
			may("browserstack", d.browserStack(&f.BrowserStack)),
			may("minutes", integer(d, &f.Minutes, 1, 45)),
			may("parallel", integer(d, &f.Parallel, 1, 20)),
			may("max-usd", d.number(&f.MaxUSD, 0.01, 10_000)),
		) {
			return
		}
		d.exactlyOne(n, path, farmKeys, "minutes", "parallel", "max-usd")
		if f.AWS != nil && f.Minutes < leastAWSMinutes {
			d.at(n.find("minutes"), join(path, "minutes"), "AWS Device Farm gives a test %d minutes at least, got %d", leastAWSMinutes, f.Minutes)
		}
		switch limit := n.find("max-usd"); {
		case f.BrowserStack == nil && limit == nil:
			d.at(n, path, "the key max-usd is missing")
		case f.BrowserStack != nil && f.Firebase == nil && f.AWS == nil && limit != nil:
			d.hinted(limit, join(path, "max-usd"), "browserstack.max-minutes bounds what a command takes", "BrowserStack is paid for by its plan, and not by the minute: remove the key")
		}
	}
}

func (d *decoder) firebase(dst **Firebase) reader {
	return func(n *node, path string) {
		f := &Firebase{}
		*dst = f
		if d.mapping(n, path,
			need("project", d.text(&f.Project, projectRule)),
			may("bucket", d.text(&f.Bucket, bucketRule)),
			need("devices", d.list(1, d.farmDevice(modelRule, func(model, version string) {
				f.Devices = append(f.Devices, FarmDevice{model, version})
			}))),
		) {
			d.fewDevices(n, path, len(f.Devices))
		}
	}
}

func (d *decoder) aws(dst **AWS) reader {
	return func(n *node, path string) {
		f := &AWS{}
		*dst = f
		if d.mapping(n, path,
			need("project", d.text(&f.Project, arnRule)),
			need("devices", d.list(1, d.farmDevice(awsRule, func(model, version string) {
				f.Devices = append(f.Devices, AWSDevice{model, version})
			}))),
			may("unmetered", d.boolean(&f.Unmetered)),
		) {
			d.fewDevices(n, path, len(f.Devices))
		}
	}
}

func (d *decoder) browserStack(dst **BrowserStack) reader {
	return func(n *node, path string) {
		f := &BrowserStack{}
		*dst = f
		if d.mapping(n, path,
			need("devices", d.list(1, d.farmDevice(phoneRule, func(model, version string) {
				f.Devices = append(f.Devices, BrowserStackDevice{model, version})
			}))),
			need("max-minutes", integer(d, &f.MaxMinutes, 1, 100_000)),
		) {
			d.fewDevices(n, path, len(f.Devices))
		}
	}
}

func (d *decoder) fewDevices(n *node, path string, devices int) {
	if devices > mostFarmDevices {
		d.at(n, join(path, "devices"), "want at most %d devices, got %d", mostFarmDevices, devices)
	}
}

// farmDevice decodes a device of a farm, whose names follow the rule.
func (d *decoder) farmDevice(names rule, add func(model, version string)) reader {
	lines := map[string]int{}
	return func(n *node, path string) {
		var model, version string
		if d.mapping(n, path,
			need("model", d.text(&model, names)),
			need("version", d.looseText(&version, names)),
		) {
			d.once(lines, model+" "+version, n, "model", path, "device")
			add(model, version)
		}
	}
}
