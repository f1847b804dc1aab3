// Package stf borrows phones from an STF server (OpenSTF, today DeviceFarmer): a company's own
// phones, which its employees use in their browsers.
//
// It owns the requests to the server's API v1 (doc/API.md of STF, and its sources of 2015 to
// 2022: lib/units/api/controllers, lib/units/device/plugins), and the choice of a phone. The
// phone itself is used through adb only. The user's token and the server's address are in the
// environment: the owner of the token decides where it is sent, not a file in a pull request.
//
// A phone is borrowed only while it is unused, and given back however the command ends. The
// server itself takes back an unused phone, and so also one that it lent to a process that was
// killed before it received the answer.
package stf

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/farm/rest"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// Kind is the lab's name in a configuration; called is its name in sentences.
const (
	Kind   = "stf"
	called = "STF"
)

// The variables with the server's address and the user's token, named as in stf-client.
const (
	addressVariable = "STF_URL"
	tokenVariable   = "STF_TOKEN"
)

// Keys of a lease's details.
const (
	noteAsked = "asked" // the serial of the requested phone
	noteLent  = "lent"  // the same, once the server has lent it
	noteADB   = "adb"   // its address for adb
)

// Computer provides what the lab needs of this computer.
type Computer struct {
	Getenv func(string) string
	// Reach connects to a borrowed phone.
	Reach func(context.Context, *boot.Booted) (device.Device, error)
	// Forget makes this computer's adb server, if there is one, disconnect from a phone.
	Forget func(ctx context.Context, serial string)
}

// Lab is the phones of an STF server.
type Lab struct {
	computer                    Computer
	lookEvery, waits, stopsOver time.Duration

	mu    sync.Mutex
	tried map[string]bool // serials that this process has requested or borrowed: two of its boots never request the same
}

// New returns the lab on a computer.
func New(c Computer) *Lab {
	return &Lab{computer: c, lookEvery: 5 * time.Second, waits: 10 * time.Minute, stopsOver: 5 * time.Minute, tried: map[string]bool{}}
}

// Kind is "stf".
func (l *Lab) Kind() string { return Kind }

// Check queries the server for the user and the phones.
func (l *Lab) Check(ctx context.Context) []device.Finding {
	var a answer
	if err := l.ask(ctx, "ask STF for the user", http.MethodGet, "user", nil, &a); err != nil {
		return []device.Finding{boot.Finding("server", err, "")}
	}
	found := []device.Finding{{Name: "server", OK: true, Detail: "knows the token as " + said(a.User.Email, 100)}}
	phones, err := l.phones(ctx, "list the phones")
	free := 0
	for _, p := range phones {
		if p.free() {
			free++
		}
	}
	return append(found, boot.Finding("phones", err, fmt.Sprintf("%d of %d free", free, len(phones))))
}

// Boot borrows a phone that fits, and waits for one if all of them are in use.
func (l *Lab) Boot(ctx context.Context, spec boot.Spec, held *lease.Held, tell func(string)) (*boot.Booted, error) {
	if err := held.For(spec.Name); err != nil {
		return nil, err
	}
	p, err := l.borrow(ctx, spec, held, tell)
	if err != nil {
		return nil, err
	}
	at, err := l.connect(ctx, p.Serial)
	if err != nil {
		return nil, err
	}
	if err := held.Note(noteADB, at); err != nil {
		return nil, err
	}
	b := &boot.Booted{Serial: at, Address: at}
	reach := func(ctx context.Context) (device.Device, error) { return l.computer.Reach(ctx, b) }
	if err := boot.Up(ctx, called, b, reach, adviceADB, tell); err != nil {
		return nil, err
	}
	return b, nil
}

// borrow borrows one of the phones that fit, and waits until one is free.
func (l *Lab) borrow(ctx context.Context, spec boot.Spec, held *lease.Held, tell func(string)) (phone, error) {
	doing := "borrow a phone (" + said(strings.TrimSpace(spec.Existing+" "+spec.Model+" "+spec.Android), 80) + ")"
	told := false
	for until := time.Now().Add(l.waits); ; {
		all, err := l.phones(ctx, doing)
		if err != nil {
			return phone{}, err
		}
		fit := slices.DeleteFunc(slices.Clone(all), func(p phone) bool { return !p.fits(spec) })
		if len(fit) == 0 {
			return phone{}, &boot.Error{Lab: called, What: doing + ": the server has no such phone for this user", Advice: "it has " + modelsOf(all)}
		}
		if p, lent, err := l.takeOne(ctx, fit, spec.Minutes, doing, held, tell); lent || err != nil {
			return p, err
		}
		if !told {
			tell(fmt.Sprintf("STF has %s that fit, and none is free: waiting up to %s", prose.Count(len(fit), "phone", "phones"), prose.Duration(l.waits)))
			told = true
		}
		if time.Now().After(until) {
			return phone{}, &boot.Error{Lab: called, What: fmt.Sprintf("%s: none of the %d that fit became free within %s", doing, len(fit), prose.Duration(l.waits)), Advice: "see who uses them in STF; apkgate devices clean gives back those that a killed apkgate on this computer has"}
		}
		if err := boot.Pause(ctx, l.lookEvery); err != nil {
			return phone{}, err
		}
	}
}

// takeOne borrows the first free phone. A phone that does not answer the server is skipped:
// its error is returned only if no other one is free.
func (l *Lab) takeOne(ctx context.Context, fit []phone, minutes int, doing string, held *lease.Held, tell func(string)) (p phone, lent bool, failed error) {
	for _, p := range fit {
		lent, err := l.take(ctx, p, minutes, doing, held)
		var refused *refusedError
		switch {
		case errors.As(err, &refused) && refused.status >= http.StatusInternalServerError:
			tell(said(p.Serial, 80) + ": " + err.Error())
			failed = err
		case lent || err != nil:
			return p, lent, err
		}
	}
	return phone{}, false, failed
}

// take requests a phone, and reports whether the server has lent it. It is no error if another
// user was faster.
func (l *Lab) take(ctx context.Context, p phone, minutes int, doing string, held *lease.Held) (lent bool, err error) {
	if !p.free() || !l.try(p.Serial) {
		return false, nil
	}
	defer func() {
		if !lent {
			l.leave(p.Serial)
		}
	}()
	if err := held.Note(noteAsked, p.Serial); err != nil {
		return false, err
	}
	body := map[string]any{"serial": p.Serial, "timeout": (time.Duration(minutes) * time.Minute).Milliseconds()}
	err = l.ask(ctx, doing, http.MethodPost, "user/devices", body, &answer{})
	var refused *refusedError
	if errors.As(err, &refused) && (refused.status == http.StatusForbidden || refused.status == http.StatusNotFound) {
		return false, held.Note(noteAsked, "")
	}
	if err != nil {
		return false, err
	}
	return true, held.Note(noteLent, p.Serial)
}

func (l *Lab) try(serial string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tried[serial] {
		return false
	}
	l.tried[serial] = true
	return true
}

func (l *Lab) leave(serial string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.tried, serial)
}

// connect makes the server offer the phone to adb, and returns its address.
func (l *Lab) connect(ctx context.Context, serial string) (string, error) {
	doing := "have STF offer " + said(serial, 80) + " to adb"
	var a answer
	if err := l.ask(ctx, doing, http.MethodPost, "user/devices/"+url.PathEscape(serial)+"/remoteConnect", nil, &a); err != nil {
		return "", err
	}
	if !hostPattern.MatchString(a.RemoteConnectURL) {
		return "", &boot.Error{Lab: called, What: fmt.Sprintf("%s: it is at %s, want HOST:PORT", doing, prose.Quote(a.RemoteConnectURL, 80)), Advice: "look at --connect-url-pattern of STF's providers"}
	}
	return a.RemoteConnectURL, nil
}

var hostPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]{0,252}:[1-9][0-9]{0,4}$`)

// Stop gives back the phone in the lease, and returns once the server reports that this user
// no longer has it. A phone that the server is not known to have lent is not given back:
// another command of the same user may have borrowed it since.
func (l *Lab) Stop(ctx context.Context, of lease.Lease, tell func(string)) error {
	serial := of.Detail[noteLent]
	defer l.leave(cmp.Or(serial, of.Detail[noteAsked]))
	if serial == "" {
		if asked := of.Detail[noteAsked]; asked != "" {
			tell("STF may have lent " + said(asked, 80) + " and never said so: it takes it back by itself, as it is not used")
		}
		return nil
	}
	doing := "give back " + said(serial, 80)
	err := boot.Ending{
		Lab: called, Doing: doing, Still: "STF still says that this user has it", ByHand: "stop using " + said(serial, 80) + " in STF",
		Within: l.stopsOver, Every: l.lookEvery, Hopeless: func(err error) bool { return errors.Is(err, farm.ErrRefused) },
		Step: func(ctx context.Context) (bool, error) { return l.giveBack(ctx, serial, doing, tell) },
	}.Run(ctx)
	if at := of.Detail[noteADB]; at != "" && l.computer.Forget != nil {
		l.computer.Forget(ctx, at)
	}
	return err
}

// giveBack checks whether the user has the phone, and gives it back; done reports that the
// user does not have it.
func (l *Lab) giveBack(ctx context.Context, serial, doing string, tell func(string)) (done bool, err error) {
	var a answer
	if err := l.ask(ctx, doing, http.MethodGet, "user/devices?fields=serial", nil, &a); err != nil {
		return false, err
	}
	if !slices.ContainsFunc(a.Devices, func(p phone) bool { return p.Serial == serial }) {
		return true, nil
	}
	tell("giving back " + said(serial, 80))
	err = l.ask(ctx, doing, http.MethodDelete, "user/devices/"+url.PathEscape(serial), nil, &answer{})
	var refused *refusedError
	if errors.As(err, &refused) && (refused.status == http.StatusForbidden || refused.status == http.StatusNotFound) {
		err = nil // it was no longer this user's, as the next check will show
	}
	return false, err
}

// phone is a device in the server's list. Other fields are ignored.
type phone struct {
	Serial       string          `json:"serial"`
	Name         string          `json:"name"` // "Pixel 6", by STF's own list
	Model        string          `json:"model"`
	Manufacturer string          `json:"manufacturer"`
	Version      string          `json:"version"` // "13"
	Present      bool            `json:"present"`
	Ready        bool            `json:"ready"`
	Using        bool            `json:"using"`
	Owner        json.RawMessage `json:"owner"`
}

const fields = "serial,name,model,manufacturer,version,present,ready,using,owner"

// free reports whether the server would lend the phone (isAddable of its util/deviceutil.js).
func (p phone) free() bool {
	return p.Present && p.Ready && !p.Using && (len(p.Owner) == 0 || string(p.Owner) == "null")
}

// fits reports whether the phone matches the spec.
func (p phone) fits(spec boot.Spec) bool {
	is := func(name string) bool { return strings.EqualFold(name, spec.Model) }
	return p.Serial != "" && (spec.Existing == "" || p.Serial == spec.Existing) &&
		(spec.Model == "" || is(p.Model) || is(p.Name) || is(p.Manufacturer+" "+p.Model)) &&
		(spec.Android == "" || strings.HasPrefix(p.Version+".0.", strings.TrimSuffix(spec.Android, ".0")+"."))
}

// modelsOf lists the models of the phones, each once.
func modelsOf(all []phone) string {
	var names []string
	for _, p := range all {
		if name := said(strings.TrimSpace(p.Model+" (Android "+p.Version+")"), 80); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "none at all"
	}
	slices.Sort(names)
	return prose.Few(names, 8)
}

// said quotes a text of the server for a sentence.
func said(text string, most int) string { return prose.Clip(prose.OneLine(text), most) }

// answer is an answer of the server.
type answer struct {
	Success          *bool                  `json:"success"`
	Description      string                 `json:"description"`
	User             struct{ Email string } `json:"user"`
	Devices          []phone                `json:"devices"`
	RemoteConnectURL string                 `json:"remoteConnectUrl"`
}

// Limits on an answer's size and time: STF itself waits 5 s for a phone.
const (
	mostAnswer    = 8 << 20 // bytes
	answersWithin = 30 * time.Second
)

// Hints about the server.
const (
	adviceToken   = "set STF_TOKEN to an access token of the server (Settings, Keys, Access Tokens)"
	adviceAddress = "set STF_URL to the server's address, such as https://stf.example.org"
	adviceADB     = "add this computer's ~/.android/adbkey.pub to STF (Settings, Keys, ADB Keys), and see that it reaches the ports of STF's providers"
)

// refusedError is a refusal of the server.
type refusedError struct {
	status int
	failed *boot.Error
	cause  error
}

// Error describes the operation and the failure.
func (e *refusedError) Error() string { return e.failed.Error() }

// Unwrap returns the *boot.Error, and the cause.
func (e *refusedError) Unwrap() []error { return []error{e.failed, e.cause} }

// phones lists all phones that the user may use.
func (l *Lab) phones(ctx context.Context, doing string) ([]phone, error) {
	var a answer
	err := l.ask(ctx, doing, http.MethodGet, "devices?fields="+fields, nil, &a)
	return a.Devices, err
}

// ask sends a request to the server.
func (l *Lab) ask(ctx context.Context, doing, method, path string, body any, into *answer) error {
	asking, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	request, failed := l.request(asking, method, path, body)
	if failed != nil {
		return &refusedError{failed: &boot.Error{Lab: called, What: doing + ": " + failed.What, Advice: failed.Advice}, cause: farm.ErrRefused}
	}
	text, err := rest.Ask(rest.Client, request, "the server", mostAnswer, refusal)
	if err == nil {
		err = read(text, into)
	}
	switch status := rest.StatusOf(err); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		e := &boot.Error{Lab: called, What: doing + ": " + said(err.Error(), 400), Retry: !errors.Is(err, farm.ErrRefused)}
		if status == http.StatusUnauthorized || status/100 == 3 || status == http.StatusForbidden && method == http.MethodGet {
			e.Advice = adviceToken
		} else if status == 0 && e.Retry {
			e.Advice = "see that this computer reaches " + said(l.computer.Getenv(addressVariable), 100)
		}
		return &refusedError{status, e, err}
	}
}

// request returns a request with the token.
func (l *Lab) request(ctx context.Context, method, path string, body any) (*http.Request, *boot.Error) {
	address, token := strings.TrimSuffix(l.computer.Getenv(addressVariable), "/"), l.computer.Getenv(tokenVariable)
	switch {
	case address == "":
		return nil, &boot.Error{What: "the environment does not say where the server is", Advice: adviceAddress}
	case token == "":
		return nil, &boot.Error{What: "the environment names no user of the server", Advice: adviceToken}
	case rest.InHouse(called, address) != nil:
		return nil, &boot.Error{What: rest.InHouse(called, address).Error(), Advice: adviceAddress}
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, &boot.Error{What: err.Error()}
	}
	if body == nil {
		text = nil
	}
	request, err := http.NewRequestWithContext(ctx, method, address+"/api/v1/"+path, strings.NewReader(string(text)))
	if err != nil {
		return nil, &boot.Error{What: addressVariable + " is no address", Advice: adviceAddress}
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	return request, nil
}

// read parses an answer, which reports whether the request succeeded.
func read(text []byte, into *answer) error {
	if err := json.Unmarshal(text, into); err != nil || into.Success == nil {
		return rest.Final(fmt.Errorf("the server answered %s, want the JSON of STF's API v1", prose.Quote(prose.OneLine(string(text)), 80)))
	}
	if !*into.Success {
		return rest.Final(fmt.Errorf("the server refused: %s", said(into.Description, 200)))
	}
	return nil
}

// refusal returns the message in an error response; HTML is not shown.
func refusal(text []byte) string {
	var a answer
	if json.Unmarshal(text, &a) == nil {
		return said(a.Description, 200)
	}
	if strings.HasPrefix(strings.TrimSpace(string(text)), "<") {
		return ""
	}
	return said(string(text), 200)
}
