// Package console simulates the console of an Android emulator: the server on the port that
// names it.
//
// It owns the conversation and the state that the console keeps (speed and delay of the
// network, the battery), and reports changes to the simulated emulator. It does not simulate
// the emulator itself. It is as strict as the real one (the emulator's android/console.cpp):
// before authentication all but a few commands are refused, replies end in CRLF, `network
// status` reports the settings rather than the actual shaping, and `kill` hangs up without
// another message.
package console

import (
	"bufio"
	"cmp"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Network is the network that the console was set to emulate: bits per second, 0 without a
// limit, and the range of the delay of each packet.
type Network struct {
	Up, Down    float64
	Least, Most time.Duration
}

// Battery is the state of the emulated battery and charger.
type Battery struct {
	AC       bool
	Status   string // "Unknown", "Charging", "Discharging", "Not charging", "Full"
	Health   string
	Present  bool
	Capacity int // in percent
}

// Emulator is the emulator that the console belongs to.
type Emulator struct {
	Name string // of the virtual device
	ID   string // from the option -id; usually the name
	// TokenFile contains the token, read again for each connection. If it is empty or does not
	// exist, no token is required.
	TokenFile string
	// Callbacks for changes, from one connection at a time; nil is not called.
	OnNetwork func(Network)
	OnBattery func(Battery)
	// OnKill is called when the emulator has to end. The connection is closed afterwards.
	OnKill func()

	once    sync.Once
	mu      sync.Mutex
	network Network
	battery Battery
}

// Serve accepts connections until the listener is closed.
func (e *Emulator) Serve(l net.Listener) error {
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go e.talk(conn)
	}
}

// begin sets the initial battery of an emulator (goldfish_battery.c).
func (e *Emulator) begin() {
	e.once.Do(func() {
		e.battery = Battery{AC: true, Status: "Charging", Health: "Good", Present: true, Capacity: 100}
	})
}

// client is one connection.
type client struct {
	e     *Emulator
	conn  net.Conn
	known bool // authenticated
	over  bool
	// killed is set if the emulator is to end after the reply.
	killed bool
}

func (e *Emulator) talk(conn net.Conn) {
	defer conn.Close() //nolint:errcheck // the other side may have closed it
	e.begin()
	c := &client{e: e, conn: conn}
	c.greet()
	for in := bufio.NewReader(conn); !c.over; {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		c.hear(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\r", ""))
	}
	if c.killed && e.OnKill != nil {
		e.OnKill()
	}
}

// token returns the required token, "" for none.
func (e *Emulator) token() string {
	raw, err := os.ReadFile(e.TokenFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

func (c *client) greet() {
	if c.e.token() == "" {
		c.known = true
		c.write("Android Console: type 'help' for a list of commands\nOK\n")
		return
	}
	c.write("Android Console: Authentication required\n" +
		"Android Console: type 'auth <auth_token>' to authenticate\n" +
		"Android Console: you can find your <auth_token> in \n'" + c.e.TokenFile + "'\nOK\n")
}

// write sends text with CRLF line ends.
func (c *client) write(text string) {
	if _, err := io.WriteString(c.conn, strings.ReplaceAll(text, "\n", "\r\n")); err != nil {
		c.over = true
	}
}

// command is a command of the console. It returns the text before the OK, or a refusal.
type command struct {
	free bool // allowed without the token
	do   func(c *client, args string) (text, refusal string)
}

var commands = map[string]command{
	"help":           {true, (*client).help},
	"ping":           {true, func(*client, string) (string, string) { return "I am alive!\n", "" }},
	"auth":           {true, (*client).auth},
	"quit":           {true, (*client).quit},
	"avd name":       {true, func(c *client, _ string) (string, string) { return c.e.Name + "\n", "" }},
	"avd id":         {false, func(c *client, _ string) (string, string) { return cmp.Or(c.e.ID, c.e.Name) + "\n", "" }},
	"avd status":     {false, func(*client, string) (string, string) { return "virtual device is running\n", "" }},
	"network status": {false, (*client).status},
	"network speed":  {false, (*client).speed},
	"network delay":  {false, (*client).delay},
	"power display":  {false, (*client).display},
	"power ac":       {false, (*client).ac},
	"power status":   {false, (*client).charge},
	"power capacity": {false, (*client).capacity},
	"kill":           {false, (*client).kill},
	"avd":            {true, missing},
	"network":        {false, missing},
	"power":          {false, missing},
}

func missing(*client, string) (string, string) {
	return "\navailable sub-commands:\n    status           dump it\n\n", "missing sub-command"
}

// hear handles one line.
func (c *client) hear(line string) {
	switch {
	case strings.HasPrefix(line, "GET ") || strings.HasPrefix(line, "POST "):
		c.write("KO: Forbidden HTTP request. Aborting\n")
		c.over = true
		return
	case !utf8.ValidString(line):
		c.write("KO: Forbidden binary request. Aborting\n")
		c.over = true
		return
	}
	word, args, _ := strings.Cut(line, " ")
	args = strings.TrimLeft(args, " ")
	known, there := commands[word]
	if sub, rest, _ := strings.Cut(args, " "); args != "" {
		if below, is := commands[word+" "+sub]; is {
			known, there, args = below, true, strings.TrimLeft(rest, " ")
		} else if word == "avd" || word == "network" || word == "power" {
			known.do = func(*client, string) (string, string) { return "", " bad sub-command" }
		}
	}
	if !there || !known.free && !c.known {
		c.write("KO: unknown command, try 'help'\n")
		return
	}
	text, refusal := known.do(c, args)
	switch {
	case c.over:
		c.write(text)
	case refusal != "":
		c.write(text + "KO: " + refusal + "\n")
	default:
		c.write(text + "OK\n")
	}
}

func (c *client) help(string) (string, string) {
	return "Android console commands:\n    help\n    ping\n    auth\n    quit\n\nTry 'help <command>' for command-specific help\n", ""
}

func (c *client) auth(given string) (string, string) {
	switch token := c.e.token(); {
	case given == "":
		return "", "missing authentication token"
	case given != token:
		return "", "authentication token does not match ~/.emulator_console_auth_token"
	}
	c.known = true
	return "Android Console: type 'help' for a list of commands\n", ""
}

func (c *client) quit(string) (string, string) {
	c.over = true
	return "", ""
}

func (c *client) kill(string) (string, string) {
	c.over, c.killed = true, true
	return "OK: killing emulator, bye bye\n", ""
}
