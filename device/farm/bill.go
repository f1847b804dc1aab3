package farm

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/internal/words"
)

// Rate is what a device costs.
type Rate struct {
	Device     Device
	Physical   bool
	USDPerHour float64
}

// Bill is what matrices cost.
type Bill struct {
	Matrices int
	Minutes  int // of devices
	USD      float64
	// Most says that some minutes were not told, and are the most that they can have been.
	Most bool
}

// AtMost is what so many matrices can cost that run on each of the devices.
func AtMost(rates []Rate, matrices int, within time.Duration) Bill {
	b := Bill{Matrices: matrices, Most: true}
	for _, r := range rates {
		b.pay(r, matrices*Minutes(within))
	}
	return b
}

// Minutes are those that are paid for a test that took so long: each that has begun, as
// firebase.google.com/docs/test-lab/usage-quotas-pricing has it.
func Minutes(took time.Duration) int { return int((took + time.Minute - 1) / time.Minute) }

// Add adds a matrix's outcomes.
func (b *Bill) Add(rates []Rate, outcomes []Outcome) {
	b.Matrices++
	for i, o := range outcomes {
		b.pay(rates[i], o.Minutes)
		b.Most = b.Most || !o.Told
	}
}

func (b *Bill) pay(r Rate, minutes int) {
	b.Minutes += minutes
	b.USD += float64(minutes) / 60 * r.USDPerHour
}

// Text is the bill in a line, with the farm's noun for an order: "28 matrices, at most 280
// minutes of devices, 23.33 USD".
func (b Bill) Text(one, many string) string {
	most := ""
	if b.Most {
		most = "at most "
	}
	return fmt.Sprintf("%s, %s%s of devices, %.2f USD", words.Count(b.Matrices, one, many), most, words.Count(b.Minutes, "minute", "minutes"), b.USD)
}
