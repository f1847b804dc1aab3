package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Labs describes a device that a lab boots; at most one field is set. To add a lab to the
// configuration, add a field here and its type below.
type Labs struct {
	// An emulator of Android's SDK, which apkgate boots and stops.
	AVD *AVD `yaml:"avd,omitempty"`
	// A virtual device of Genymotion Desktop, which apkgate boots and stops.
	Genymotion *Genymotion `yaml:"genymotion,omitempty"`
	// An instance in Genymotion's cloud, which apkgate boots and stops.
	GenymotionSaaS *GenymotionSaaS `yaml:"genymotion-saas,omitempty"`
	// A phone that an STF server (OpenSTF, DeviceFarmer) lends, which apkgate gives back.
	STF *STF `yaml:"stf,omitempty"`
}

// description is the configuration of a device for one lab.
type description interface {
	// decode returns a reader of its keys.
	decode(*decoder) reader
	// virtual returns the description in the form that all labs share, without its Kind.
	virtual() Virtual
}

// Virtual describes a device that a lab boots, in the form that all labs share. The lab chooses
// fields that are zero.
type Virtual struct {
	Kind     string // the lab's key: "avd"
	Existing string // the name of an existing device
	Model    string
	Android  string
	Image    string
	ABI      string
	Screen   Screen
	RAMMiB   int
	Cores    int
	GPU      string
	Snapshot string
	Minutes  int // after which the lab ends it

	// Phone is set for a phone, which has a battery of its own.
	Phone bool
	// Here is set for a device that runs on this computer and uses its processors.
	Here bool
	// Once is the reason why there can't be several of it, "" if there can.
	Once string
}

// labKeys are the configuration keys of the labs.
var labKeys = func() (keys []string) {
	for field := range reflect.TypeFor[Labs]().Fields() {
		key, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		keys = append(keys, key)
	}
	return keys
}()

// fields returns the labs' keys for decoding.
func (l *Labs) fields(d *decoder) (out []field) {
	labs := reflect.ValueOf(l).Elem()
	for i, key := range labKeys {
		out = append(out, may(key, func(n *node, path string) {
			labs.Field(i).Set(reflect.New(labs.Field(i).Type().Elem()))
			labs.Field(i).Interface().(description).decode(d)(n, path)
		}))
	}
	return out
}

// Virtual returns the device's description for a lab; its Kind is "" if no lab boots it.
func (l Labs) Virtual() (v Virtual) {
	labs := reflect.ValueOf(l)
	for i, key := range labKeys {
		if its := labs.Field(i); !its.IsNil() {
			v = its.Interface().(description).virtual()
			v.Kind = key
			return v
		}
	}
	return v
}

// AVD describes an emulator of Android's SDK: one to create (Model and Android), or an existing one
// (Existing).
type AVD struct {
	// The device to emulate, by its id in avdmanager list device, such as pixel_6. With it, apkgate
	// creates the emulator and deletes it afterwards.
	Model string `yaml:"model,omitempty" jsonschema:"minLength=1,maxLength=200"`
	// Its Android, as the API level of the system image, such as 34.
	Android string `yaml:"android,omitempty"`
	// The kind of system image, such as google_apis, google_apis_playstore, google_atd or default.
	Image string `yaml:"image,omitempty" jsonschema:"default=google_apis"`
	// The ABI of the system image. Without it, the one that this computer runs without translation.
	ABI string `yaml:"abi,omitempty" jsonschema:"enum=x86_64,enum=x86,enum=arm64-v8a,enum=armeabi-v7a"`
	// The screen as WIDTHxHEIGHT@DPI, such as 1080x2400@420. Without it, the model's.
	Screen Screen `yaml:"screen,omitempty"`
	// An existing AVD. It is started without changing anything in it.
	Existing string `yaml:"name,omitempty" jsonschema:"minLength=1,maxLength=200"`
	// The RAM of the device in MiB. Without it, the model's.
	RAMMiB int `yaml:"ram-mib,omitempty" jsonschema:"minimum=512,maximum=65536"`
	// The number of CPU cores. Without it, the model's.
	Cores int `yaml:"cores,omitempty" jsonschema:"minimum=1,maximum=64"`
	// The renderer: a mode of the emulator's option -gpu, such as auto, host or
	// swiftshader_indirect.
	GPU string `yaml:"gpu,omitempty" jsonschema:"default=auto"`
	// The snapshot of an existing AVD to start from. Without it, it boots cold.
	Snapshot string `yaml:"snapshot,omitempty" jsonschema:"minLength=1,maxLength=200"`
}

// Genymotion describes a virtual device of Genymotion Desktop: one to create (Model and Android),
// or an existing one (Existing).
type Genymotion struct {
	// The hardware profile, as gmtool admin hwprofiles prints it, such as Google Pixel 3. With it, apkgate creates the device and deletes it afterwards.
	Model string `yaml:"model,omitempty" jsonschema:"minLength=1,maxLength=200"`
	// Its Android, as gmtool admin osimages prints it, such as 11.0.
	Android string `yaml:"android,omitempty"`
	// The screen as WIDTHxHEIGHT@DPI, such as 1080x2160@440. Without it, the profile's.
	Screen Screen `yaml:"screen,omitempty"`
	// An existing virtual device: it is started and stopped.
	Existing string `yaml:"name,omitempty" jsonschema:"minLength=1,maxLength=200"`
}

// GenymotionSaaS describes an instance in Genymotion's cloud.
type GenymotionSaaS struct {
	// The recipe, as gmsaas recipes list prints it: its name, such as Google Pixel 3, or its UUID.
	Recipe string `yaml:"recipe" jsonschema:"required,minLength=1,maxLength=200"`
	// The Android of the recipe, such as 11.0, where several recipes have its name.
	Android string `yaml:"android,omitempty"`
	// After how many minutes the cloud stops the instance in any case, so that a lost one does not
	// go on costing money.
	Minutes int `yaml:"minutes,omitempty" jsonschema:"minimum=1,maximum=28800,default=120"`
}

// STF describes a phone of an STF server: any one of a model, or one by its serial.
type STF struct {
	// The model or the name of the phone, as STF lists it, such as Pixel 6 or SM-G991B: any one of them that nobody uses.
	Model string `yaml:"model,omitempty" jsonschema:"minLength=1,maxLength=200,oneof_required=model"`
	// Its Android, such as 13, where phones of the model have several.
	Android string `yaml:"android,omitempty"`
	// The serial of a certain phone.
	Serial string `yaml:"serial,omitempty" jsonschema:"minLength=1,maxLength=200,oneof_required=serial"`
	// After how many minutes without use STF takes the phone back by itself, so that a lost one is not kept from others.
	Minutes int `yaml:"minutes,omitempty" jsonschema:"minimum=1,maximum=1440,default=15"`
}

// Screen is a screen size in pixels, and its density in dpi. A file writes it as WIDTHxHEIGHT@DPI.
type Screen struct{ Width, Height, Density int }

func (s Screen) String() string { return fmt.Sprintf("%dx%d@%d", s.Width, s.Height, s.Density) }

// MarshalYAML encodes the screen as in a file.
func (s Screen) MarshalYAML() (any, error) { return s.String(), nil }

func (a *AVD) decode(d *decoder) reader {
	return func(n *node, path string) {
		a.GPU = "auto"
		if !d.mapping(n, path,
			may("model", d.text(&a.Model, bootRule)),
			may("android", d.looseText(&a.Android, apiRule)),
			may("image", d.text(&a.Image, imageRule)),
			may("abi", oneOf(d, &a.ABI, "x86_64", "x86", "arm64-v8a", "armeabi-v7a")),
			may("screen", d.screen(&a.Screen)),
			may("name", d.text(&a.Existing, bootRule)),
			may("ram-mib", integer(d, &a.RAMMiB, 512, 65_536)),
			may("cores", integer(d, &a.Cores, 1, 64)),
			may("gpu", d.text(&a.GPU, imageRule)),
			may("snapshot", d.text(&a.Snapshot, bootRule)),
		) {
			return
		}
		if a.Image == "" && n.find("name") == nil {
			a.Image = "google_apis"
		}
		d.newOrExisting(n, path, "android", "image", "abi", "screen")
		if at := n.find("snapshot"); at != nil && n.find("name") == nil {
			d.at(at, join(path, "snapshot"), "an emulator that is created has no snapshot yet: name one that exists by name, or remove the key")
		}
	}
}

func (a *AVD) virtual() Virtual {
	return Virtual{
		Existing: a.Existing, Model: a.Model, Android: a.Android, Image: a.Image, ABI: a.ABI, Screen: a.Screen,
		RAMMiB: a.RAMMiB, Cores: a.Cores, GPU: a.GPU, Snapshot: a.Snapshot, Here: true,
	}
}

func (g *Genymotion) decode(d *decoder) reader {
	return func(n *node, path string) {
		if d.mapping(n, path,
			may("model", d.text(&g.Model, bootRule)),
			may("android", d.looseText(&g.Android, androidRule)),
			may("screen", d.screen(&g.Screen)),
			may("name", d.text(&g.Existing, bootRule)),
		) {
			d.newOrExisting(n, path, "android", "screen")
		}
	}
}

func (g *Genymotion) virtual() Virtual {
	v := Virtual{Existing: g.Existing, Model: g.Model, Android: g.Android, Screen: g.Screen, Here: true}
	if g.Existing != "" {
		v.Once = "Genymotion runs a virtual device that is there once"
	}
	return v
}

func (g *GenymotionSaaS) decode(d *decoder) reader {
	return func(n *node, path string) {
		g.Minutes = 120
		d.mapping(n, path,
			need("recipe", d.text(&g.Recipe, bootRule)),
			may("android", d.looseText(&g.Android, androidRule)),
			may("minutes", integer(d, &g.Minutes, 1, 28_800)),
		)
	}
}

func (g *GenymotionSaaS) virtual() Virtual {
	return Virtual{Model: g.Recipe, Android: g.Android, Minutes: g.Minutes}
}

func (s *STF) decode(d *decoder) reader {
	return func(n *node, path string) {
		s.Minutes = 15
		if d.mapping(n, path,
			may("model", d.text(&s.Model, bootRule)),
			may("android", d.looseText(&s.Android, androidRule)),
			may("serial", d.text(&s.Serial, bootRule)),
			may("minutes", integer(d, &s.Minutes, 1, 1440)),
		) {
			d.exactlyOne(n, path, []string{"model", "serial"}, "android", "minutes")
		}
	}
}

func (s *STF) virtual() Virtual {
	v := Virtual{Existing: s.Serial, Model: s.Model, Android: s.Android, Minutes: s.Minutes, Phone: true}
	if s.Serial != "" {
		v.Once = "a phone of an STF server is there once"
	}
	return v
}

// newOrExisting reports a description that is neither of a device to create nor of an existing one,
// which already has the other keys.
func (d *decoder) newOrExisting(n *node, path string, ofNew ...string) {
	model, name := n.find("model"), n.find("name")
	switch {
	case model == nil && name == nil:
		d.at(n, path, "want exactly one of model (to create a device) and name (of one that exists), got none")
	case model != nil && name != nil:
		d.at(n, path, "want exactly one of model (to create a device) and name (of one that exists), got both")
	case model != nil && n.find("android") == nil:
		d.at(n, path, "the key android is missing: a device that is created needs model and android")
	case name != nil:
		for _, key := range ofNew {
			if at := n.find(key); at != nil {
				d.at(at, join(path, key), "a device that exists has its own %s: remove the key, or have a device created by model", key)
			}
		}
	}
}

// screen decodes WIDTHxHEIGHT@DPI.
func (d *decoder) screen(dst *Screen) reader {
	return func(n *node, path string) {
		var text string
		d.text(&text, screenRule)(n, path)
		if text != "" {
			*dst, _ = parseScreen(text)
		}
	}
}

// parseScreen parses a screen between a watch's and a wall's.
func parseScreen(text string) (Screen, bool) {
	m := screenPattern.FindStringSubmatch(text)
	if m == nil {
		return Screen{}, false
	}
	number := func(s string) int {
		n, _ := strconv.Atoi(s) // of at most four digits
		return n
	}
	s := Screen{number(m[1]), number(m[2]), number(m[3])}
	return s, min(s.Width, s.Height) >= 100 && s.Density >= 60 && s.Density <= 1000
}
