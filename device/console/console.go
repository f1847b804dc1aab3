// Package console speaks with the console of an Android emulator that runs on this
// computer: the port of 127.0.0.1 that names it, 5554 for emulator-5554.
//
// It owns the connection (banner, authentication, replies) and the commands that
// apkgate gives: the speed and delay of the network, the battery, the name, the end. It
// starts no emulator and knows no adb, whose `emu` says nothing of whether the console
// refused: it exits with 0 either way. It takes two stands: what was set counts only
// once the console tells it back, and whoever answers on the port may be anybody, so
// that the token is read from where emulators keep it and not from where the banner says.
//
// The protocol is that of the emulator's android/console.cpp: a line in, lines out that
// end in CRLF, the last of which is "OK", "OK: …" or "KO: …".
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

// TokenFile is where in the user's home emulators keep the token of their consoles.
const TokenFile = ".emulator_console_auth_token"

// Bounds of a conversation: an emulator answers at once, or its main loop hangs.
const (
	patience = 5 * time.Second
	mostText = 64 << 10 // of one reply
)

// ErrNotConsole says that whoever listens on the port is no emulator's console.
var ErrNotConsole = errors.New("no emulator's console answers there")

// RefusedError is what the console says to a command that it doesn't carry out.
type RefusedError struct {
	Command string
	Answer  string // what it said after "KO:"
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the emulator's console refused %q: it said %s", e.Command, shown(e.Answer))
}

// Console is a connection to one emulator's console, for one caller at a time.
type Console struct {
	conn net.Conn
	in   *bufio.Reader
	port int
}

// Open connects to the console on the port of this computer, and authenticates with the
// token in the user's home where the console asks for it. The error of a port on which
// nobody listens wraps syscall.ECONNREFUSED.
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

// Close ends the conversation.
func (c *Console) Close() error { return c.conn.Close() }

// greet reads the banner, and authenticates where it asks for that.
func (c *Console) greet(ctx context.Context) error {
	defer c.within(ctx)()
	banner, _, err := c.reply()
	switch {
	case err != nil:
		return because(ctx, err)
	case !strings.HasPrefix(banner, "Android Console:"):
		return fmt.Errorf("%w: it said %s", ErrNotConsole, shown(banner))
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

// readToken reads the token that emulators of this user expect.
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
	defer file.Close() //nolint:errcheck // it was only read
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

// Do gives the console a command and returns what it says before its OK, its lines
// without their ends. A refusal is a *RefusedError.
func (c *Console) Do(ctx context.Context, command string) (string, error) {
	if strings.ContainsFunc(command, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", fmt.Errorf("tell the emulator's console %q: a command is one line", command)
	}
	defer c.within(ctx)()
	return c.say(ctx, command, command)
}

// say writes a command and reads its reply; named is what errors call the command.
func (c *Console) say(ctx context.Context, command, named string) (string, error) {
	if _, err := io.WriteString(c.conn, command+"\r\n"); err != nil {
		return "", fmt.Errorf("tell the emulator's console on port %d %q: %w", c.port, named, because(ctx, err))
	}
	text, last, err := c.reply()
	if err != nil {
		return "", fmt.Errorf("read what the emulator's console on port %d says to %q: %w", c.port, named, because(ctx, err))
	}
	if answer, refused := strings.CutPrefix(last, "KO:"); refused {
		return "", &RefusedError{Command: named, Answer: strings.TrimSpace(answer)}
	}
	return text, nil
}

// reply reads to the line that ends a reply: the lines before it, and itself.
func (c *Console) reply() (text, last string, err error) {
	var lines []string
	for size := 0; ; {
		line, err := c.line(mostText - size)
		switch {
		case err != nil && len(lines) == 0:
			return "", "", err
		case err != nil:
			return "", "", fmt.Errorf("%w after %s", err, shown(strings.Join(lines, "\n")))
		case line == "OK", strings.HasPrefix(line, "OK:"), strings.HasPrefix(line, "KO:"):
			return strings.Join(lines, "\n"), line, nil
		}
		lines = append(lines, line)
		size += len(line) + 1
	}
}

// shown is some of what a stranger said, harmless where it is printed.
func shown(said string) string {
	const most = 200
	return prose.Quote(strings.TrimSpace(said), most)
}

// line reads one line of at most so many bytes.
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

// within bounds what is read and written by ctx, and by what an emulator needs.
func (c *Console) within(ctx context.Context) (end func()) {
	_ = c.conn.SetDeadline(time.Now().Add(patience))
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })
	return func() { stop() }
}

// because is why a conversation broke off: the caller's reason, or the connection's.
func because(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("no answer within %v: %w", patience, err)
	}
	return err
}

// PortOf is the port of the console of a device by its serial in adb, "emulator-5554", on
// the computer of the adb server; 0 for a device that is named otherwise.
func PortOf(serial string) int {
	digits, named := strings.CutPrefix(serial, "emulator-")
	port, err := strconv.ParseUint(digits, 10, 16)
	if !named || err != nil {
		return 0
	}
	return int(port)
}
