package diagnose

import "sync"

// Family is a group of kinds of causes that share a section.
type Family struct {
	Name  string // "energy": the prefix of the names of its kinds, before the point
	Title string // title of the section: "Where the energy goes"
	Label string // its name in a line or on a page: "Energy"
	Line  string // label of the line on the main cause: "Energy cause"
	Has   string // the data that a run needs for it: "joules"
}

// Kind is a kind of cause.
type Kind struct {
	Family
	Name string // "energy.method"
	// Rank orders causes where it is unknown which explains more, lowest first.
	Rank int
	// Alert is set where the subject is code that can be changed: code scanning gets a result for
	// each such cause.
	Alert bool
	// Mark is the kind in fingerprints, which outlive its name; "" is the name.
	Mark string
}

// other is the kind of causes that are not registered, such as from a newer apkgate.
var other = Kind{Family: Family{Name: "other", Title: "What else explains it", Label: "Other causes", Line: "Other cause", Has: "other causes"}, Rank: 1_000}

var kinds = struct {
	sync.RWMutex
	byName map[string]Kind
}{byName: map[string]Kind{}}

// Register registers kinds; the package of a kind does so when it is initialized. It returns their
// names in order.
func Register(all ...Kind) (names []string) {
	kinds.Lock()
	defer kinds.Unlock()
	for _, k := range all {
		kinds.byName[k.Name] = k
		names = append(names, k.Name)
	}
	return names
}

// KindOf returns the kind of that name, or other.
func KindOf(name string) Kind {
	kinds.RLock()
	defer kinds.RUnlock()
	if k, ok := kinds.byName[name]; ok {
		return k
	}
	k := other
	k.Name = name
	return k
}

// InFingerprint returns the kind's text in a fingerprint.
func (k Kind) InFingerprint() string {
	if k.Mark != "" {
		return k.Mark
	}
	return k.Name
}
