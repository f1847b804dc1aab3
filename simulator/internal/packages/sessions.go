package packages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/simulator/internal/storage"
)

// session is an installation of several APKs: pm install-create, -write, -commit.
type session struct {
	grant bool
	names []string
	parts [][]byte
	size  int
}

// Limits of an installation in progress.
const (
	maxSessions = 50
	maxParts    = 500
)

// firstSession is the id of a phone's first session.
const firstSession = 1_418_703_677

// pmSession is one step of an installation of several APKs (Android 5;
// PackageManagerShellCommand.java, before Android 7 Pm.java).
func pmSession(c *call, verb string) int {
	if c.API < 21 {
		c.Errorf("Error: unknown command '%s'\n", verb)
		return 1
	}
	if verb == "install-create" {
		return createSession(c)
	}
	options, plain := sessionOptions(c.Args)
	var id string
	if len(plain) > 0 {
		id = plain[0]
	}
	s := c.sessions[id]
	if s == nil {
		c.Errorf("\nException occurred while executing '%s':\njava.lang.SecurityException: Caller has no access to session %s\n", verb, id)
		return 255
	}
	switch verb {
	case "install-write":
		return writeSession(c, s, options["-S"] != "", plain)
	case "install-commit":
		delete(c.sessions, id)
		return c.installAll(s.parts, s.grant)
	}
	delete(c.sessions, id)
	c.Printf("Success\n")
	return 0
}

// sessionOptions splits the arguments into options with their values, and other words.
func sessionOptions(args []string) (options map[string]string, plain []string) {
	options = map[string]string{}
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case slices.Contains([]string{"-S", "-i", "-p", "--user", "--abi", "--install-location", "--dexopt-compiler-filter"}, a) && i+1 < len(args):
			i++
			options[a] = args[i]
		case a == "-" || !strings.HasPrefix(a, "-"):
			plain = append(plain, a)
		default:
			options[a] = a
		}
	}
	return options, plain
}

func createSession(c *call) int {
	options, _ := sessionOptions(c.Args)
	switch {
	case options["-g"] != "" && c.API < runtimePermissions:
		c.Errorf("Error: Unknown option: -g\n")
		return 1
	case len(c.sessions) >= maxSessions:
		c.Errorf("\nException occurred while executing 'install-create':\njava.lang.IllegalStateException: Too many active sessions for UID 2000\n")
		return 255
	}
	id := fmt.Sprint(firstSession + c.nextSession)
	c.nextSession++
	c.sessions[id] = &session{grant: options["-g"] != ""}
	c.Printf("Success: created install session [%s]\n", id)
	return 0
}

// writeSession is install-write [-S SIZE] ID NAME [FILE|-].
func writeSession(c *call, s *session, stream bool, plain []string) int {
	if len(plain) < 2 || !stream && len(plain) < 3 {
		c.Errorf("Error: must specify a path\n")
		return 1
	}
	data := c.In
	if !stream {
		var err error
		if data, err = c.Files.Read(plain[2]); err != nil {
			c.Errorf("Error: %v\n", err)
			return 1
		}
	}
	if slices.Contains(s.names, plain[1]) || len(s.parts) >= maxParts || s.size+len(data) > storage.MaxFile || c.Files.Full {
		c.Errorf("Error: No space left on device\n")
		return 1
	}
	s.names, s.parts, s.size = append(s.names, plain[1]), append(s.parts, data), s.size+len(data)
	c.Printf("Success: streamed %d bytes\n", len(data))
	return 0
}

// Sessions returns how many installations are in progress.
func (m *Manager) Sessions() int { return len(m.sessions) }
