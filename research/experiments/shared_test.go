package experiments

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/simulator/profile"
)

// once makes what several tests judge for the first of them.
func once[T any](make func(*testing.T) T) func(*testing.T) T {
	var making sync.Once
	var made T
	done := false
	return func(t *testing.T) T {
		t.Helper()
		making.Do(func() {
			made = make(t)
			done = true
		})
		if !done {
			t.Fatal("what is judged could not be measured; an earlier test says why")
		}
		return made
	}
}

// measuredApps are the apps of experiments A to C (sections 8.1 to 8.3): both are slow on
// Android 5 and later, with a history of 20 phones × 2 networks on Android 4, and five
// upgraded phones.
var measuredApps = once(func(t *testing.T) (apps []measured) {
	for _, s := range []subject{k9, blaster} {
		text := build(t, s)
		apps = append(apps, measured{s,
			collected(t, s, text, lab(t, "device-lab"), repetitions(5), 1, "wifi", "3g"),
			collected(t, s, text, lab(t, "upgraded-lab"), repetitions(5), 100, "wifi"),
		})
	}
	return apps
})

// mutation is what experiment D (section 8.4) judges: an app with janks on 15 phones drawn
// from the lab, of all of which there is a run without them on each network.
type mutation struct {
	phones  []profile.Profile // drawn first
	history []run.Run
	head    session
}

var measuredMutation = once(func(t *testing.T) (m mutation) {
	m.history = measure(t, player, lab(t, "device-lab"), repetitions(10), 1, "wifi", "3g")
	m.phones = drawn(t)[:15]
	m.head = collected(t, mutated, build(t, mutated), m.phones, repetitions(10), 200, "wifi")
	return m
})

// sessions are those that D's phones have accepted of the player where each has a history of
// its own, and one of the mutated and of the unchanged build: on five phones, or two by day.
type sessions struct {
	phones             []profile.Profile
	accepted           []session
	mutated, unchanged session
}

var measuredSessions = once(func(t *testing.T) (s sessions) {
	const accepted = 6
	s.phones = drawn(t)[:5]
	if !nightly() {
		s.phones = s.phones[:2]
	}
	for i := range accepted {
		s.accepted = append(s.accepted, collected(t, player, build(t, player), s.phones, 5, uint64(1000*(i+1)), "wifi"))
	}
	s.mutated = collected(t, mutated, build(t, mutated), s.phones, 5, 200, "wifi")
	s.unchanged = collected(t, player, build(t, player), s.phones, 5, 300, "wifi")
	return s
})

// of returns those of the first phones.
func (s sessions) of(phones int) sessions {
	out := sessions{phones: s.phones[:phones], mutated: s.mutated[:phones], unchanged: s.unchanged[:phones]}
	for _, one := range s.accepted {
		out.accepted = append(out.accepted, one[:phones])
	}
	return out
}

// before returns the accepted runs.
func (s sessions) before() (out []run.Run) {
	for _, one := range s.accepted {
		out = append(out, one.runs()...)
	}
	return out
}

// drawn returns the lab's phones in the order in which D draws them.
func drawn(t *testing.T) []profile.Profile {
	t.Helper()
	phones := slices.Clone(lab(t, "device-lab"))
	rng := rand.New(rand.NewPCG(8, 4))
	rng.Shuffle(len(phones), func(i, j int) { phones[i], phones[j] = phones[j], phones[i] })
	return phones
}
