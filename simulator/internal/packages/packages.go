// Package packages simulates a phone's package manager and its command pm: the installed
// packages, refused installations, permissions and the compilation of code. Its output has the
// form of the phone's Android version.
//
// It starts nothing: processes belong to the phone, which stops them on the package manager's
// request. It has no lock: the phone's lock is held around all of its methods.
package packages

import (
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/clock"
	"github.com/apkgate/apkgate/simulator/internal/shell"
	"github.com/apkgate/apkgate/simulator/internal/storage"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// Phone is the phone that packages are installed on.
type Phone struct {
	API   int
	ABI   string
	ABIs  []string // the supported ABIs, the phone's own first
	Clock *clock.Queue
	Files *storage.Files
	// Kill stops the processes of a package.
	Kill func(pkg string)
	// Refuses reports whether a verifier refuses installations over adb.
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

// New returns the package manager of a phone without installed apps.
func New(p Phone) *Manager {
	return &Manager{Phone: p, Apps: map[string]*Installed{}, uids: map[string]int{}, sessions: map[string]*session{}}
}

// call is a call of the package manager.
type call struct {
	*Manager
	*shell.Call
}

// Installed is a package on the phone.
type Installed struct {
	App       *simapp.App
	Path      string // of its base
	Made      int    // how often its activity was created
	Queryable bool   // visible to every app, which may bind to it (Android 11)

	splits  []string // the names of its splits
	abi     string   // of its native libraries, "" without any
	updated time.Duration
	uid     int
	filter  string // the compiler's filter: "speed-profile", "speed"
	// profiled reports that the app's baseline profile is installed, hot that the code in it
	// is compiled.
	profiled, hot bool
	// granted are the app's granted runtime permissions.
	granted map[string]bool
}

// paths returns the paths of the app's APKs, the base first.
func (a *Installed) paths() []string {
	paths := []string{a.Path}
	for _, name := range a.splits {
		paths = append(paths, a.folder()+"/split_"+name+".apk")
	}
	return paths
}

// folder returns the folder of the app's files.
func (a *Installed) folder() string { return a.Path[:strings.LastIndexByte(a.Path, '/')] }

// FirstUID is the UID of the first installed app.
const FirstUID = 10120

// UID returns the user ID of a package; a reinstalled package keeps its old one.
func (m *Manager) UID(pkg string) int {
	uid, ok := m.uids[pkg]
	if !ok {
		uid = FirstUID + len(m.uids)
		m.uids[pkg] = uid
	}
	return uid
}
