package hotspots

import "github.com/apkgate/apkgate/diagnose"

// The kinds of causes that this package makes.
const (
	MethodKind    = "energy.method"
	CallsKind     = "energy.calls" // a method with all that it calls
	WakelockKind  = "energy.wakelock"
	ComponentKind = "energy.component"
	TrafficKind   = "energy.traffic"
)

// Family is what they have in common.
var Family = diagnose.Family{Name: "energy", Title: "Where the energy goes", Label: "Energy", Line: "Energy cause", Has: "joules"}

var _ = diagnose.Register(
	diagnose.Kind{Family: Family, Name: MethodKind, Rank: 10, Alert: true, Mark: "method"},
	diagnose.Kind{Family: Family, Name: CallsKind, Rank: 11},
	diagnose.Kind{Family: Family, Name: WakelockKind, Rank: 12},
	diagnose.Kind{Family: Family, Name: ComponentKind, Rank: 13},
	diagnose.Kind{Family: Family, Name: TrafficKind, Rank: 14},
)
