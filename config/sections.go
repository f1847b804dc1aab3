package config

import (
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
)

// config decodes the whole file. Its own metrics are read before the gate, which may name them.
func (d *decoder) config(root *node) *Config {
	c := Default()
	c.Store.SQLite, c.Report.HTML = d.join(c.Store.SQLite), d.join(c.Report.HTML)
	scenarios := field{"scenarios", !d.opts.GateOnly, d.list(1, d.scenario(&c))}
	d.mapping(root, "",
		need("app", d.app(&c.App)),
		scenarios,
		may("devices", d.list(0, d.device(&c))),
		may("farm", d.farm(&c.Farm)),
		may("networks", d.set(&c.Networks, 0, func(s *string) reader { return d.text(s, networkRule) })),
		may("context", d.context(&c.Context)),
		may("energy", d.energy(&c.Energy)),
		may("base", d.filePath(&c.Base)),
		may("rounds", d.rounds(&c.Rounds)),
		may("conditions", d.conditions(&c.Conditions)),
		may("evidence", d.evidence(&c.Evidence)),
		may("methods", d.methods(&c)),
		may("known-problems", d.list(0, d.knownProblem(&c))),
		may("metrics", d.list(0, d.metric(&c))),
		may("gate", d.gate(&c)),
		may("store", d.store(&c.Store)),
		may("report", d.report(&c.Report)),
	)
	c.compilations()
	d.enoughRounds(root, &c)
	d.methodsNeedEvidence(root, &c)
	d.outputsDiffer(root, &c)
	return &c
}

func (d *decoder) app(a *App) reader {
	return func(n *node, path string) {
		d.mapping(n, path,
			need("package", d.text(&a.Package, packageRule)),
			may("apk", d.apks(a)),
			may("test-apk", d.filePath(&a.TestAPK)),
			may("orchestrator-apk", d.filePath(&a.OrchestratorAPK)),
			may("test-services-apk", d.filePath(&a.TestServicesAPK)),
			may("version", d.looseText(&a.Version, nameRule)),
			may("build", d.looseText(&a.Build, nameRule)),
			may("mapping", d.filePath(&a.Mapping)),
		)
	}
}

// apks decodes one path, or a list of different ones.
func (d *decoder) apks(a *App) reader {
	return func(n *node, path string) {
		if n.kind != yaml.SequenceNode {
			d.filePath(&a.APK)(n, path)
			return
		}
		var all []string
		if d.set(&all, 1, d.filePath)(n, path); len(all) > 0 {
			a.APK = all[0]
		}
		if len(all) > 1 {
			a.Splits = all[1:]
		}
	}
}

func (d *decoder) scenario(c *Config) reader {
	lines := map[string]int{} // the line of each name
	return func(n *node, path string) {
		s := Scenario{Repetitions: 5, WarmUp: 1, Timeout: 5 * time.Minute, Retries: 2, Memory: MemoryRSS}
		if !d.mapping(n, path,
			need("name", d.text(&s.Name, nameRule)),
			need("workload", d.workload(&s.Workload)),
			may("repetitions", integer(d, &s.Repetitions, 1, 1000)),
			may("warm-up", integer(d, &s.WarmUp, 0, 100)),
			may("timeout", d.duration(&s.Timeout, time.Second, 24*time.Hour)),
			may("clear-data", d.boolean(&s.ClearData)),
			may("compile", oneOf(d, &s.Compile, Compilations()...)),
			may("memory", oneOf(d, &s.Memory, MemoryRSS, MemoryPSS)),
			may("frames-by", oneOf(d, &s.FramesBy, FramesAuto, FramesShown)),
			may("refresh-hz", integer(d, &s.RefreshHz, 24, 1000)),
			may("load", d.load(&s.Load)),
			may("retries", integer(d, &s.Retries, 0, 100)),
		) {
			return
		}
		if s.Workload.Benchmark() != nil { // it warms up and repeats by itself
			if n.find("repetitions") == nil {
				s.Repetitions = 1
			}
			if n.find("warm-up") == nil {
				s.WarmUp = 0
			}
			if n.find("timeout") == nil {
				s.Timeout = 30 * time.Minute
			}
			s.Memory = ""
			d.notOfBenchmarks(n, path)
		}
		d.once(lines, s.Name, n, "name", path, "scenario named")
		d.onceOfClasses(lines, s, n, path)
		c.Scenarios = append(c.Scenarios, s)
	}
}

// notOfBenchmarks reports keys for what a Macrobenchmark does by itself, or lacks.
func (d *decoder) notOfBenchmarks(scenario *node, path string) {
	for key, why := range map[string]string{
		"compile":   "a Macrobenchmark has the app compiled by its own CompilationMode",
		"memory":    "memory is not measured with a Macrobenchmark",
		"frames-by": "a Macrobenchmark times its frames itself",
		"load":      "a Macrobenchmark starts its measurements by itself, so no load can be added to them",
	} {
		if at := scenario.find(key); at != nil {
			d.at(at, join(path, key), "%s: remove the key", why)
		}
	}
}

// once reports a name that another entry of the list already has.
func (d *decoder) once(lines map[string]int, name string, n *node, key, path, what string) {
	if name == "" {
		return
	}
	at := n
	if value := n.find(key); value != nil {
		at, path = value, join(path, key)
	}
	if first, has := lines[name]; has {
		d.at(at, path, "a second %s %q; the first is on line %d", what, prose.Short(name), first)
		return
	}
	lines[name] = at.line
}

func (d *decoder) workload(w *Workload) reader {
	return func(n *node, path string) {
		if d.mapping(n, path,
			may("instrumentation", d.instrumentation(&w.Instrumentation)),
			may("startup", d.startup(&w.Startup)),
			may("maestro", d.maestro(&w.Maestro)),
			may("monkey", d.monkey(&w.Monkey)),
			may("shell", d.shell(&w.Shell)),
		) {
			d.exactlyOne(n, path, []string{"instrumentation", "startup", "maestro", "monkey", "shell"})
		}
	}
}

func (d *decoder) instrumentation(dst **Instrumentation) reader {
	return func(n *node, path string) {
		i := &Instrumentation{Runner: DefaultRunner}
		*dst = i
		d.mapping(n, path,
			need("test-package", d.text(&i.TestPackage, packageRule)),
			may("runner", d.text(&i.Runner, runnerRule)),
			may("class", d.text(&i.Class, classRule)),
			may("classes", d.set(&i.Classes, 1, func(s *string) reader { return d.text(s, oneClassRule) })),
			may("args", d.texts(&i.Args, propertyRule)),
			may("macrobenchmark", d.boolean(&i.Macrobenchmark)),
			may("orchestrator", d.boolean(&i.Orchestrator)),
		)
		if i.Orchestrator && i.Macrobenchmark {
			d.at(n.find("orchestrator"), join(path, "orchestrator"), "a Macrobenchmark runs in a process of its own anyway, and not under the Orchestrator: remove one of the two")
		}
		if _, twice := i.Args["class"]; twice && i.Class != "" {
			d.at(n.find("args").find("class"), join(join(path, "args"), "class"), "the test class is given twice, by class and by args")
		}
		d.classesFit(n, path, *i)
	}
}

func (d *decoder) startup(dst **Startup) reader {
	return func(n *node, path string) {
		*dst = &Startup{Mode: StartCold}
		d.mapping(n, path,
			may("mode", oneOf(d, &(*dst).Mode, StartModes()...)),
			may("activity", d.text(&(*dst).Activity, activityRule)),
		)
	}
}

func (d *decoder) maestro(dst **Maestro) reader {
	return func(n *node, path string) {
		*dst = &Maestro{}
		d.mapping(n, path, need("flow", d.filePath(&(*dst).Flow)))
	}
}

func (d *decoder) monkey(dst **Monkey) reader {
	const most = 1<<53 - 1 // which every JSON reader represents exactly
	return func(n *node, path string) {
		m := &Monkey{Seed: 1}
		*dst = m
		d.mapping(n, path,
			may("seed", integer(d, &m.Seed, 0, most)),
			need("events", integer(d, &m.Events, 1, 1_000_000)),
			may("throttle", d.duration(&m.Throttle, 0, time.Minute)),
			may("args", d.list(0, d.word(&m.Args, nameRule))),
		)
	}
}

func (d *decoder) shell(dst **Shell) reader {
	return func(n *node, path string) {
		*dst = &Shell{}
		d.mapping(n, path, need("script", d.filePath(&(*dst).Script)))
	}
}

func (d *decoder) context(c *Context) reader {
	return func(n *node, path string) {
		d.mapping(n, path,
			may("use", d.set(&c.Use, 1, func(s *string) reader { return d.text(s, propertyRule) })),
			may("rules", d.set(&c.Rules, 1, func(s *string) reader { return d.text(s, propertyRule) })),
			may("extra", d.texts(&c.Extra, propertyRule)),
		)
	}
}

func (d *decoder) metric(c *Config) reader {
	lines := map[string]int{}
	catalogue := metric.Default()
	return func(n *node, path string) {
		var m Metric
		if name := n.find("name"); name != nil {
			m = catalogueMetric(catalogue, name.text)
		}
		if !d.mapping(n, path,
			need("name", d.text(&m.Name, metricRule)),
			may("unit", d.text(&m.Unit, unitRule)),
			may("better", oneOf(d, &m.Better, metric.Directions()...)),
			may("title", d.text(&m.Title, nameRule)),
			may("decimals", integer(d, &m.Decimals, 0, 9)),
		) || m.Name == "" {
			return
		}
		if _, known := catalogue.Lookup(m.Name); !known && n.find("better") == nil {
			d.at(n, path, "the key better is missing: the catalogue has no %s; allowed: %s", prose.Short(m.Name), strings.Join(metric.Directions(), ", "))
		}
		d.once(lines, m.Name, n, "name", path, "metric named")
		c.Metrics = append(c.Metrics, m)
	}
}

// catalogueMetric returns the catalogue's metric, for the keys that the file leaves out.
func catalogueMetric(catalogue *metric.Catalogue, name string) Metric {
	known, _ := catalogue.Lookup(name)
	return Metric{Unit: known.Unit, Better: known.Direction.String(), Title: known.Title, Decimals: known.Decimals}
}

func (d *decoder) store(s *Store) reader {
	return func(n *node, path string) {
		ways := []string{"sqlite", "branch", "postgres", "address"}
		if d.mapping(n, path,
			may("sqlite", d.filePath(&s.SQLite)),
			may("branch", d.text(&s.Branch, branchRule)),
			may("postgres", d.passwordless(&s.Postgres, databaseRule, "give it in PGPASSWORD or ~/.pgpass")),
			may("address", d.passwordless(&s.Other, storeRule, "give it in the environment")),
		) && len(n.entries) > 0 {
			d.exactlyOne(n, path, ways)
		}
		if s.Branch != "" || s.Postgres != "" || s.Other != "" {
			s.SQLite = "" // the default is for files without a store
		}
	}
}

// passwordless decodes an address. It never repeats it, since it may contain a password, which is
// not allowed.
func (d *decoder) passwordless(dst *string, as rule, elsewhere string) reader {
	return func(n *node, path string) {
		switch {
		case n.kind != yaml.ScalarNode || n.tag != "!!str" || !as.ok(n.text):
			d.at(n, path, "want %s", as.want)
		case passwordPattern.MatchString(n.text):
			d.hinted(n, path, elsewhere, "the address has a password, which this file is no place for")
		default:
			*dst = n.text
		}
	}
}

func (d *decoder) report(r *Report) reader {
	return func(n *node, path string) {
		d.mapping(n, path,
			may("html", d.filePath(&r.HTML)),
			may("markdown", d.filePath(&r.Markdown)),
			may("json", d.filePath(&r.JSON)),
		)
	}
}

// outputsDiffer reports two outputs that would overwrite each other.
func (d *decoder) outputsDiffer(root *node, c *Config) {
	taken := map[string]string{}
	for _, out := range []struct{ section, key, file string }{
		{"store", "sqlite", c.Store.SQLite},
		{"report", "html", c.Report.HTML},
		{"report", "markdown", c.Report.Markdown},
		{"report", "json", c.Report.JSON},
	} {
		path := out.section + "." + out.key
		if out.file == "" {
			continue
		}
		first, has := taken[out.file]
		if !has {
			taken[out.file] = path
			continue
		}
		at := root
		if s := root.find(out.section); s != nil {
			at = s
			if v := s.find(out.key); v != nil {
				at = v
			}
		}
		d.at(at, path, "the same file as %s", first)
	}
}
