// Package console controls an Android emulator on this computer through its console, the port
// on 127.0.0.1 that names the emulator: 5554 for emulator-5554.
//
// It owns the connection (banner, authentication, replies) and the commands that apkgate uses:
// the speed and delay of the network, the battery, the name, the end. It starts no emulator.
// It does not use `adb emu`, which exits with 0 even if the console refused the command. A
// setting counts only once the console reports it back. The port may belong to any program, so
// the token is read from where emulators keep it, not from where the banner points.
//
// The protocol is that of the emulator's android/console.cpp: a command is one line, a reply
// is lines that end in CRLF, the last of which is "OK", "OK: …" or "KO: …".
package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
)

// TokenFile is the file in the user's home where emulators keep their consoles' token.
const TokenFile = ".emulator_console_auth_token"

// Limits of a conversation: an emulator answers at once, or its main loop hangs.
const (
	patience = 5 * time.Second
	mostText = 64 << 10 // of one reply
)

// ErrNotConsole means that the program on the port is no emulator's console.
var ErrNotConsole = errors.New("no emulator's console answers there")

// RefusedError is the console's answer to a command that it refuses.
type RefusedError struct {
	Command string
	Answer  string // the text after "KO:"
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the emulator's console refused %q: it said %s", e.Command, quoted(e.Answer))
}

// Console is a connection to one emulator's console. It must not be used concurrently.
type Console struct {
	conn net.Conn
	in   *bufio.Reader
	port int
}

// Open connects to the console on a port of this computer, and authenticates with the token in
// the user's home if the console asks for it. If nothing listens on the port, the error wraps
// syscall.ECONNREFUSED.
func Open(ctx context.Context, port int) (*Console, error) {
	doing := func(err error) error { return fmt.Errorf("open the emulator's console on port %d: %w", port, err) }
	if port < 1 || port > 65535 {
		return nil, doing(errors.New("a port is 1 to 65535"))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, doing(err)
	}
	c := &Console{conn: conn, in: bufio.NewReader(conn), port: port}
	if err := c.greet(ctx); err != nil {
		return nil, doing(errors.Join(err, conn.Close()))
	}
	return c, nil
}

// Close closes the connection.
func (c *Console) Close() error { return c.conn.Close() }

// greet reads the banner, and authenticates if the console asks for it.
func (c *Console) greet(ctx context.Context) error {
	defer c.within(ctx)()
	banner, _, err := c.reply()
	switch {
	case err != nil:
		return causeOf(ctx, err)
	case !strings.HasPrefix(banner, "Android Console:"):
		return fmt.Errorf("%w: it said %s", ErrNotConsole, quoted(banner))
	case !strings.HasPrefix(banner, "Android Console: Authentication required"):
		return nil
	}
	token, err := readToken()
	if err != nil {
		return err
	}
	_, err = c.say(ctx, "auth "+token, "auth")
	return err
}

// readToken reads the token of this user's emulators.
func readToken() (string, error) {
	const most = 4 << 10
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the token of the emulator's console: %w", err)
	}
	file, err := os.Open(filepath.Join(home, TokenFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the console asks for a token, and %s is not there: was the emulator started by another user?", filepath.Join(home, TokenFile))
	}
	if err != nil {
		return "", fmt.Errorf("read the token of the emulator's console: %w", err)
	}
	defer file.Close() //nolint:errcheck // read only
	raw, err := io.ReadAll(io.LimitReader(file, most))
	token := strings.TrimSpace(string(raw))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the token of the emulator's console: %w", err)
	case token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", fmt.Errorf("the token of the emulator's console in %s is none: want one word", filepath.Join(home, TokenFile))
	}
	return token, nil
}

// Do sends a command and returns the reply's lines before its OK, without their line ends. A
// refusal is a *RefusedError.
func (c *Console) Do(ctx context.Context, command string) (string, error) {
	if strings.ContainsFunc(command, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", fmt.Errorf("send %q to the emulator's console: a command is one line", command)
	}
	defer c.within(ctx)()
	return c.say(ctx, command, command)
}

// say sends a command and reads its reply; errors call the command named.
func (c *Console) say(ctx context.Context, command, named string) (string, error) {
	if _, err := io.WriteString(c.conn, command+"\r\n"); err != nil {
		return "", fmt.Errorf("send %[2]q to the emulator's console on port %[1]d: %[3]w", c.port, named, causeOf(ctx, err))
	}
	text, last, err := c.reply()
	if err != nil {
		return "", fmt.Errorf("read the reply of the emulator's console on port %d to %q: %w", c.port, named, causeOf(ctx, err))
	}
	if answer, refused := strings.CutPrefix(last, "KO:"); refused {
		return "", &RefusedError{Command: named, Answer: strings.TrimSpace(answer)}
	}
	return text, nil
}

// reply reads up to the last line of a reply, and returns the lines before it and that line.
func (c *Console) reply() (text, last string, err error) {
	var lines []string
	for size := 0; ; {
		line, err := c.line(mostText - size)
		switch {
		case err != nil && len(lines) == 0:
			return "", "", err
		case err != nil:
			return "", "", fmt.Errorf("%w after %s", err, quoted(strings.Join(lines, "\n")))
		case line == "OK", strings.HasPrefix(line, "OK:"), strings.HasPrefix(line, "KO:"):
			return strings.Join(lines, "\n"), line, nil
		}
		lines = append(lines, line)
		size += len(line) + 1
	}
}

// quoted shortens and quotes untrusted text for an error.
func quoted(said string) string {
	const most = 200
	return prose.Quote(strings.TrimSpace(said), most)
}

// line reads one line of at most the given number of bytes.
func (c *Console) line(most int) (string, error) {
	var b strings.Builder
	for {
		ch, err := c.in.ReadByte()
		switch {
		case err != nil:
			return "", err
		case ch == '\n':
			return strings.TrimRight(b.String(), "\r"), nil
		case b.Len() >= most:
			return "", fmt.Errorf("%w: a reply of more than %d bytes", ErrNotConsole, mostText)
		}
		b.WriteByte(ch)
	}
}

// within limits reads and writes by ctx and by patience.
func (c *Console) within(ctx context.Context) (end func()) {
	_ = c.conn.SetDeadline(time.Now().Add(patience))
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })
	return func() { stop() }
}

// causeOf returns why a conversation broke off: the caller's reason, or the connection's
// error.
func causeOf(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("no answer within %v: %w", patience, err)
	}
	return err
}

// PortOf returns the port of a device's console on the adb server's computer, from the
// device's serial in adb, "emulator-5554". It is 0 for any other serial.
func PortOf(serial string) int {
	digits, named := strings.CutPrefix(serial, "emulator-")
	port, err := strconv.ParseUint(digits, 10, 16)
	if !named || err != nil {
		return 0
	}
	return int(port)
}
