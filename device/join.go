package device

import "strings"

// separator is printed between the answers of joined commands.
const separator = "apkgate-next"

// JoinCommands joins several commands to one command line, so that the device runs one
// process. Each command must end its output with a newline, or print nothing.
func JoinCommands(commands ...string) string {
	return strings.Join(commands, "; echo "+separator+"; ")
}

// SplitAnswers returns the outputs of the given number of joined commands, in order. It is nil
// where the output has another number of answers, for instance where the device does not know
// the commands.
func SplitAnswers(output string, commands int) []string {
	answers := strings.Split(strings.ReplaceAll(output, "\r", ""), separator+"\n")
	if len(answers) != commands {
		return nil
	}
	return answers
}
