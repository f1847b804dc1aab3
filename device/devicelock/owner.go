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

// Owner identifies the user of a device.
type Owner struct {
	User string `json:"user,omitempty"`
	Host string `json:"host,omitempty"`
	PID  int    `json:"pid"`
	// Doing is what the owner measures: "com.example.mail/scroll".
	Doing string    `json:"doing,omitempty"`
	Since time.Time `json:"since"`
	// Lock identifies a file lock that the owner holds on its computer, the same for every
	// process that would lock the file; "" for none.
	Lock string `json:"lock,omitempty"`
}

// Me returns this process as the owner since now.
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
		return "another apkgate" // which has not written its name yet
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

// since formats the time of day, with the date unless it is today's.
func (o Owner) since(now time.Time) string {
	at, now := o.Since.Local(), now.Local()
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04")
	}
	return at.Format("2006-01-02 15:04")
}

// encode encodes the owner as one word of a shell, without quotes, backslashes or spaces.
func (o Owner) encode() string {
	const most = 60 // bytes of each text, at most three times as many when encoded
	return url.Values{
		"user": {prose.Clip(o.User, most)}, "host": {prose.Clip(o.Host, most)}, "pid": {strconv.Itoa(o.PID)}, "doing": {prose.Clip(o.Doing, 2*most)},
		"since": {o.Since.UTC().Format(time.RFC3339)}, "lock": {o.Lock},
	}.Encode()
}

// decodeOwner decodes the output of encode; fields that can't be decoded are empty.
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

// HeldError means that another process uses the device.
type HeldError struct{ Owner Owner }

// Error names the owner.
func (e *HeldError) Error() string { return "in use by " + e.Owner.String() }
