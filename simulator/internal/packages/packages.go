// Package packages is the package manager of a simulated phone: what is installed on it,
// by whom an installation is refused, which permissions apps have and how their code is
// compiled; and the command pm. It answers in the words of the phone's Android version.
//
// It starts nothing: what runs of a package is the phone's, which ends it where the
// package manager asks. It has no lock: the phone's is held around all of it.
package packages

import (
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/shell"
	"github.com/apkgate/apkgate/simulator/internal/storage"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Phone is what packages are installed on.
type Phone struct {
	API   int
	ABI   string
	ABIs  []string // whose code it runs, its own first
	Clock *clock.Queue
	Files *storage.Files
	// Kill stops what runs of a package.
	Kill func(pkg string)
	// Refuses reports whether what adb installs is refused by a verifier.
	Refuses func() bool
}

// Manager is the package manager of one phone.
type Manager struct {
	Phone
	Apps map[string]*Installed // by package

	uids        map[string]int // by package
	sessions    map[string]*session
	nextSession int
}

// New is the package manager of a phone with nothing installed.
func New(p Phone) *Manager {
	return &Manager{Phone: p, Apps: map[string]*Installed{}, uids: map[string]int{}, sessions: map[string]*session{}}
}

// call is a command to the package manager.
type call struct {
	*Manager
	*shell.Call
}

// Installed is a package on the phone.
type Installed struct {
	App       *simapp.App
	Path      string // of its base
	Made      int    // how often its activity was made
	Queryable bool   // every app may see and bind to it (Android 11)

	splits  []string // the names of the other parts
	abi     string   // of its native libraries, "" where it has none
	updated time.Duration
	uid     int
	filter  string // the compiler's filter: "speed-profile", "speed"
	// profiled says that the app's baseline profile is installed, hot that the code which
	// it names is compiled.
	profiled, hot bool
	// granted are the runtime permissions that the app has.
	granted map[string]bool
}

// paths are where the parts of the app are, its base first.
func (a *Installed) paths() []string {
	paths := []string{a.Path}
	for _, name := range a.splits {
		paths = append(paths, a.folder()+"/split_"+name+".apk")
	}
	return paths
}

// folder is where the app's files are.
func (a *Installed) folder() string { return a.Path[:strings.LastIndexByte(a.Path, '/')] }

// FirstUID is that of the first app that is installed.
const FirstUID = 10120

// UID is the user of a package; one that comes back gets its old one.
func (m *Manager) UID(pkg string) int {
	uid, ok := m.uids[pkg]
	if !ok {
		uid = FirstUID + len(m.uids)
		m.uids[pkg] = uid
	}
	return uid
}
