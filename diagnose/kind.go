package diagnose

import "sync"

// Family is what kinds of causes have in common that stand in one section.
type Family struct {
	Name  string // "energy": begins the names of its kinds, before the point
	Title string // heads the section: "Where the energy goes"
	Label string // names it for a line or a page: "Energy"
	Line  string // heads the line on what explains most: "Energy cause"
	Has   string // what a run has that it is told of: "joules"
}

// Kind is a kind of cause.
type Kind struct {
	Family
	Name string // "energy.method"
	// Rank orders causes of which nothing tells which explains more, the lowest first.
	Rank int
	// Alert says that the subject is code that can be changed: code scanning gets
	// a result for each such cause.
	Alert bool
	// Mark stands for the kind in fingerprints, which outlive its name; "" is the name.
	Mark string
}

// other is the kind of causes that nobody has registered: those that a newer
// apkgate wrote.
var other = Kind{Family: Family{Name: "other", Title: "What else explains it", Label: "Other causes", Line: "Other cause", Has: "other causes"}, Rank: 1_000}

var kinds = struct {
	sync.RWMutex
	byName map[string]Kind
}{byName: map[string]Kind{}}

// Register makes kinds known; the package of a kind does so when it is loaded. It
// returns their names in order.
func Register(all ...Kind) (names []string) {
	kinds.Lock()
	defer kinds.Unlock()
	for _, k := range all {
		kinds.byName[k.Name] = k
		names = append(names, k.Name)
	}
	return names
}

// KindOf is the kind of that name; one that is not registered is shown as any other.
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

// InFingerprint is what stands for the kind in a fingerprint.
func (k Kind) InFingerprint() string {
	if k.Mark != "" {
		return k.Mark
	}
	return k.Name
}
