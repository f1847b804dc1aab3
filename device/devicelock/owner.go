package devicelock

import (
	"fmt"
	"net/url"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
)

// Owner is who uses a device.
type Owner struct {
	User string `json:"user,omitempty"`
	Host string `json:"host,omitempty"`
	PID  int    `json:"pid"`
	// Doing is what it measures: "com.example.mail/scroll".
	Doing string    `json:"doing,omitempty"`
	Since time.Time `json:"since"`
	// Lock names the lock of a file that the owner holds on its computer, the same for
	// everybody who would lock that file; "" for none.
	Lock string `json:"lock,omitempty"`
}

// Me is this process, from now on.
func Me(now time.Time) Owner {
	o := Owner{PID: os.Getpid(), Since: now}
	o.Host, _ = os.Hostname()
	if u, err := user.Current(); err == nil {
		o.User = u.Username
	}
	return o
}

// String is "alice@ci-3 (pid 123, com.example.mail/scroll) since 04:03", by this
// computer's time of day.
func (o Owner) String() string {
	if o.PID == 0 {
		return "another apkgate" // that has not said so yet
	}
	who := o.Host
	if o.User != "" {
		who = o.User + "@" + o.Host
	}
	if who == "" {
		who = "apkgate"
	}
	what := fmt.Sprintf("pid %d", o.PID)
	if o.Doing != "" {
		what += ", " + o.Doing
	}
	return fmt.Sprintf("%s (%s) since %s", who, what, o.since(time.Now()))
}

// since is the time of day, with the date where that is not today's.
func (o Owner) since(now time.Time) string {
	at, now := o.Since.Local(), now.Local()
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04")
	}
	return at.Format("2006-01-02 15:04")
}

// encode is the owner as one word of a shell: no quotes, backslashes or spaces.
func (o Owner) encode() string {
	const most = 60 // bytes of each text, which thrice as many may stand for
	return url.Values{
		"user": {prose.Clip(o.User, most)}, "host": {prose.Clip(o.Host, most)}, "pid": {strconv.Itoa(o.PID)}, "doing": {prose.Clip(o.Doing, 2*most)},
		"since": {o.Since.UTC().Format(time.RFC3339)}, "lock": {o.Lock},
	}.Encode()
}

// decodeOwner reads what encode wrote; what can't be read is left out.
func decodeOwner(text string) (o Owner) {
	values, err := url.ParseQuery(text)
	if err != nil {
		return Owner{}
	}
	o.User, o.Host, o.Doing, o.Lock = values.Get("user"), values.Get("host"), values.Get("doing"), values.Get("lock")
	o.PID, _ = strconv.Atoi(values.Get("pid"))
	o.Since, _ = time.Parse(time.RFC3339, values.Get("since"))
	return o
}

// HeldError says that somebody else uses the device.
type HeldError struct{ Owner Owner }

// Error names the owner.
func (e *HeldError) Error() string { return "in use by " + e.Owner.String() }
