package config

import (
	"fmt"
	"strconv"
	"strings"
)

// BackgroundLoad is what else keeps the device busy while a scenario is measured.
type BackgroundLoad struct {
	// The share of the processors' time that the load takes, such as 80%.
	CPU Fraction `yaml:"cpu,omitempty"`
	// The share of the device's memory that is in use, such as 80%, up to 90%: as much is held as is
	// missing.
	Memory Fraction `yaml:"memory,omitempty"`
	// How many files are written to the device's storage, and how many are read, at the same time.
	Storage int `yaml:"storage,omitempty" jsonschema:"minimum=1,maximum=8"`
	// How many downloads run at the same time.
	Downloads int `yaml:"downloads,omitempty" jsonschema:"minimum=1,maximum=50"`
	// What is downloaded: an address that the device can reach, such as http://10.0.2.2:8000/file on
	// an emulator, of a file of 64 KiB or more. Required with downloads.
	From string `yaml:"from,omitempty"`
}

// String returns the load as a property of a run's context: "cpu 80%, memory 80%, storage 2, downloads
// 10". The address is left out: it may change from day to day.
func (l *BackgroundLoad) String() string {
	if l == nil {
		return ""
	}
	var parts []string
	share := func(name string, f Fraction) {
		if f > 0 {
			parts = append(parts, name+" "+strconv.FormatFloat(float64(f)*100, 'f', -1, 64)+"%")
		}
	}
	number := func(name string, n int) {
		if n > 0 {
			parts = append(parts, fmt.Sprint(name, " ", n))
		}
	}
	share("cpu", l.CPU)
	share("memory", l.Memory)
	number("storage", l.Storage)
	number("downloads", l.Downloads)
	return strings.Join(parts, ", ")
}

// mostMemory limits the share of the memory: beyond it Android kills the app in front.
const mostMemory = 0.9

func (d *decoder) load(dst **BackgroundLoad) reader {
	return func(n *node, path string) {
		l := &BackgroundLoad{}
		if !d.mapping(n, path,
			may("cpu", d.fraction(&l.CPU, false)),
			may("memory", d.fraction(&l.Memory, false)),
			may("storage", integer(d, &l.Storage, 1, 8)),
			may("downloads", integer(d, &l.Downloads, 1, 50)),
			may("from", d.passwordless(&l.From, downloadRule, "give the file without one")),
		) {
			return
		}
		*dst = l
		at, from := n.find("memory"), n.find("from")
		switch {
		case l.Memory > mostMemory:
			d.at(at, join(path, "memory"), "want at most 90%%, got %s: beyond that Android kills the app in front", describe(at))
		case len(n.entries) == 0:
			d.at(n, path, "want at least one of cpu, memory, storage, downloads, got none")
		case l.Downloads > 0 && from == nil:
			d.hinted(n, path, "name a file that the device can reach, such as http://10.0.2.2:8000/file on an emulator, where 10.0.2.2 is this computer", "the key from is missing: what is downloaded")
		case l.Downloads == 0 && from != nil:
			d.at(from, join(path, "from"), "nothing is downloaded: add downloads, or remove the key")
		}
	}
}
