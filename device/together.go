package device

import "strings"

// between stands between the answers of commands that are sent together.
const between = "apkgate-next"

// Together is one command line for several commands, so that a device is asked once. Each has
// to end with a newline, or to print nothing.
func Together(commands ...string) string {
	return strings.Join(commands, "; echo "+between+"; ")
}

// Apart are the answers of so many commands that were sent together, in their order; nil where
// the output holds another number of answers, as where a device has words of its own for
// everything.
func Apart(output string, commands int) []string {
	answers := strings.Split(strings.ReplaceAll(output, "\r", ""), between+"\n")
	if len(answers) != commands {
		return nil
	}
	return answers
}
