package pftrace

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config is the parsed part of a trace configuration about power and frames.
type Config struct {
	Duration time.Duration // 0: until it is stopped
	Poll     time.Duration
	Counters []string // "CHARGE", "CURRENT", …
	Rails    bool
	Power    bool // the data source android.power is configured
	Frames   bool // SurfaceFlinger's frame timeline
	Shown    bool // the buffers of each layer
	Kernel   bool // the data source linux.ftrace is configured
	Ftrace   Ftrace
	// Processes reports that the data source linux.process_stats is configured to list
	// processes and threads.
	Processes bool
	Messages  bool // the category mq of track events
	// producers are the names of the programs whose messages are recorded; none: all.
	producers []*regexp.Regexp
	Ring      bool // a ring buffer
	Name      string
	IntoFile  time.Duration // how often it is written to its file, 0: at the end
}

// Limits of a configuration's text.
const (
	maxConfig = 1 << 20
	maxDepth  = 20
	leastPoll = 100 * time.Millisecond
	// leastPeriod is the shortest interval of writing to the file.
	leastPeriod = 100 * time.Millisecond

	defaultPoll = time.Second
)

// block is a message in text format: fields in order.
type block []field

type field struct {
	name  string
	value string // for a scalar, without quotes
	inner block  // for a message
}

// all returns the values of a field, "" for messages.
func (b block) all(name string) (out []field) {
	for _, f := range b {
		if f.name == name {
			out = append(out, f)
		}
	}
	return out
}

func (b block) value(name string) string {
	if list := b.all(name); len(list) > 0 {
		return list[len(list)-1].value
	}
	return ""
}

// counters are the names of AndroidPowerConfig.BatteryCounters, with the API level that
// introduced each.
var counters = map[string]int{"CHARGE": 28, "CAPACITY_PERCENT": 28, "CURRENT": 28, "CURRENT_AVG": 28, "VOLTAGE": 35}

// propertyConfig is the field of the data source android.system_property, introduced in
// Android 14.
const propertyConfig = "android_system_property_config"

// ParseConfig parses a trace configuration in protobuf's text format, as the perfetto of an
// Android version does.
func ParseConfig(text string, api int) (Config, error) {
	if len(text) > maxConfig {
		return Config{}, errors.New("the trace config is too large")
	}
	p := parser{words: tokens(text)}
	root, err := p.block(0)
	if err != nil {
		return Config{}, err
	}
	c := Config{Duration: millis(root.value("duration_ms")), Poll: defaultPoll}
	c.Name = root.value("unique_session_name")
	if root.value("write_into_file") == "true" {
		c.IntoFile = max(millis(root.value("file_write_period_ms")), leastPeriod)
	}
	if len(root.all("buffers")) == 0 {
		return c, errors.New("the trace config has no buffers")
	}
	for _, buffer := range root.all("buffers") {
		c.Ring = c.Ring || buffer.inner.value("fill_policy") == "RING_BUFFER"
	}
	for _, source := range root.all("data_sources") {
		for _, config := range source.inner.all("config") {
			if len(config.inner.all(propertyConfig)) > 0 && api < 34 {
				return c, fmt.Errorf("no field named %q in proto DataSourceConfig", propertyConfig)
			}
			// No service provides this data source before Android 12; the session works
			// nevertheless.
			c.Frames = c.Frames || config.inner.value("name") == "android.surfaceflinger.frametimeline" && api >= 31
			c.Shown = c.Shown || config.inner.value("name") == "android.surfaceflinger.frame" && api >= buffersSince
			switch config.inner.value("name") {
			case "linux.ftrace":
				c.kernel(config.inner, api)
			case "linux.process_stats":
				c.Processes = true
			case "track_event":
				if enables(config.inner, "mq") {
					c.Messages = true
					c.addProducers(source.inner)
				}
			}
			if config.inner.value("name") != "android.power" {
				continue
			}
			c.Power = true
			for _, power := range config.inner.all("android_power_config") {
				if err := c.power(power.inner, api); err != nil {
					return c, err
				}
			}
		}
	}
	if len(root.all("data_sources")) == 0 {
		return c, errors.New("the trace config has no data_sources")
	}
	return c, nil
}

// addProducers adds the names of programs, or regular expressions for whole names, that a data
// source is requested from.
func (c *Config) addProducers(source block) {
	for _, one := range source.all("producer_name_filter") {
		c.producers = append(c.producers, regexp.MustCompile("^"+regexp.QuoteMeta(one.value)+"$"))
	}
	for _, one := range source.all("producer_name_regex_filter") {
		if re, err := regexp.Compile("^(" + strings.ReplaceAll(one.value, `\\`, `\`) + ")$"); err == nil {
			c.producers = append(c.producers, re)
		}
	}
}

// Producer reports whether the track events of a program are recorded.
func (c *Config) Producer(name string) bool {
	return len(c.producers) == 0 || slices.ContainsFunc(c.producers, func(re *regexp.Regexp) bool { return re.MatchString(name) })
}

// enables reports whether a data source of track events records a category: all are enabled, apart
// from those that are disabled and not enabled by their names (TrackEventInternal::IsCategoryEnabled
// of Perfetto's SDK).
func enables(b block, category string) bool {
	has := func(name string, want ...string) bool {
		return slices.ContainsFunc(b.all("track_event_config"), func(config field) bool {
			return slices.ContainsFunc(config.inner.all(name), func(one field) bool { return slices.Contains(want, one.value) })
		})
	}
	return has("enabled_categories", category) || !has("disabled_categories", category, "*") &&
		(has("enabled_categories", "*") || !slices.ContainsFunc(b.all("track_event_config"), func(config field) bool { return len(config.inner.all("enabled_categories")) > 0 }))
}

// kernel parses the kernel's and atrace's events. Events that a kernel does not support are
// ignored, as in traced_probes.
func (c *Config) kernel(b block, api int) {
	c.Kernel = true
	for _, config := range b.all("ftrace_config") {
		f := &c.Ftrace
		for _, one := range config.inner.all("ftrace_events") {
			_, name, grouped := strings.Cut(one.value, "/")
			if !grouped {
				name = one.value
			}
			f.ask(name)
		}
		for _, name := range config.inner.all("atrace_categories") {
			f.Categories = append(f.Categories, name.value)
			f.ask(ofCategory[name.value]...)
		}
		for _, name := range config.inner.all("atrace_apps") {
			f.Apps = append(f.Apps, name.value)
		}
		f.Symbols = f.Symbols || config.inner.value("symbolize_ksyms") == "true"
		// The compact format is the default since perfetto 42 (its CHANGELOG); before that it
		// has to be requested.
		f.Compact = f.Events["sched_switch"] && api >= columnsSince
		for _, compact := range config.inner.all("compact_sched") {
			f.Compact = f.Events["sched_switch"] && compact.inner.value("enabled") == "true"
		}
	}
}

// ofCategory are the kernel events of each category of atrace.
var ofCategory = map[string][]string{
	"sched":         {"sched_switch", "sched_waking", "sched_blocked_reason"},
	"freq":          {"cpu_frequency"},
	"disk":          {"block_bio_queue", "block_bio_complete", "f2fs_sync_file_enter", "f2fs_sync_file_exit"},
	"binder_driver": {"binder_transaction", "binder_transaction_received"},
}

// columnsSince is the API level whose perfetto uses the compact format by default: Android 15
// includes a later version than 42.
const columnsSince = 35

func (c *Config) power(b block, api int) error {
	if poll := millis(b.value("battery_poll_ms")); poll > 0 {
		c.Poll = max(poll, leastPoll)
	}
	c.Rails = b.value("collect_power_rails") == "true"
	for _, f := range b {
		if !slices.Contains([]string{"battery_poll_ms", "collect_power_rails", "battery_counters", "collect_energy_estimation_breakdown", "collect_entity_state_residency"}, f.name) {
			return fmt.Errorf("no field named %q in proto AndroidPowerConfig", f.name)
		}
	}
	for _, f := range b.all("battery_counters") {
		name, ok := strings.CutPrefix(f.value, "BATTERY_COUNTER_")
		since, known := counters[name]
		if !ok || !known || api < since {
			return fmt.Errorf("unexpected value %q for enum field battery_counters in proto AndroidPowerConfig", f.value)
		}
		c.Counters = append(c.Counters, name)
	}
	return nil
}

func millis(s string) time.Duration {
	n, err := strconv.ParseInt(s, 10, 41)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * time.Millisecond
}

// tokens splits the text into words, quoted strings, and { } [ ] : ; and commas.
func tokens(text string) (out []string) {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			i++
		case c == '#':
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case c == '"' || c == '\'':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				return append(out, text[i:])
			}
			out = append(out, text[i:i+end+2])
			i += end + 2
		case strings.IndexByte("{}[]:;,<>", c) >= 0:
			out = append(out, text[i:i+1])
			i++
		default:
			end := i
			for end < len(text) && strings.IndexByte(" \t\r\n{}[]:;,<>#\"'", text[end]) < 0 {
				end++
			}
			out = append(out, text[i:end])
			i = end
		}
	}
	return out
}

type parser struct {
	words []string
	at    int
}

func (p *parser) next() string {
	if p.at >= len(p.words) {
		return ""
	}
	p.at++
	return p.words[p.at-1]
}

func (p *parser) peek() string {
	if p.at >= len(p.words) {
		return ""
	}
	return p.words[p.at]
}

// block parses fields up to the closing brace, or to the end of the text.
func (p *parser) block(depth int) (block, error) {
	if depth > maxDepth {
		return nil, errors.New("the trace config is nested too deep")
	}
	var b block
	for {
		word := p.next()
		switch {
		case word == "" && depth == 0 || word == "}" && depth > 0:
			return b, nil
		case word == "," || word == ";":
			continue
		case word == "" || strings.ContainsAny(word, "{}[]:<>\"'"):
			return nil, fmt.Errorf("unexpected character in the trace config: %.20q", word)
		}
		values, err := p.values(depth)
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			v.name = word
			b = append(b, v)
		}
	}
}

// values parses what follows a field's name.
func (p *parser) values(depth int) ([]field, error) {
	colon := p.peek() == ":"
	if colon {
		p.next()
	}
	switch word := p.next(); {
	case word == "{":
		inner, err := p.block(depth + 1)
		return []field{{inner: inner}}, err
	case !colon || word == "" || word == "}" || word == ":":
		return nil, fmt.Errorf("unexpected character in the trace config: %.20q", word)
	case word == "[":
		var out []field
		for word = p.next(); word != "]"; word = p.next() {
			if word == "" || word == "{" {
				return nil, errors.New("a list in the trace config does not end")
			}
			if word != "," {
				out = append(out, field{value: strings.Trim(word, `"'`)})
			}
		}
		return out, nil
	default:
		return []field{{value: strings.Trim(word, `"'`)}}, nil
	}
}
