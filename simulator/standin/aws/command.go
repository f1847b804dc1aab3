package aws

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/apkgate/apkgate/simulator/standin/state"
)

// AWS simulates the command aws.
func AWS(folder state.Folder, args []string, stdout, stderr io.Writer) int {
	if len(args) == 1 && args[0] == "--version" {
		fmt.Fprintln(stdout, "aws-cli/2.31.0 Python/3.13.7 Linux/6.8 exe/x86_64")
		return 0
	}
	options := map[string]string{}
	for i := 2; i+1 < len(args); i += 2 {
		options[args[i]] = args[i+1]
	}
	if len(args) < 2 || len(args)%2 != 0 || args[0] != "devicefarm" || options["--output"] != "json" || options["--region"] != "us-west-2" {
		fmt.Fprintf(stderr, "\nusage: aws [options] <command> <subcommand> [<subcommand> ...] [parameters]\n\naws: error: Unknown options: %s\n", strings.Join(args, " "))
		return 252
	}
	if folder.Fails(LoggedOut) {
		fmt.Fprint(stderr, "\nUnable to locate credentials. You can configure credentials by running \"aws login\".\n")
		return 253
	}
	operation := modelled(args[1])
	text, err := answer(folder, operation, []byte(options["--cli-input-json"]))
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		tries := ""
		if refused.name == "ThrottlingException" {
			tries = " (reached max retries: 2)"
		}
		fmt.Fprintf(stderr, "\nAn error occurred (%s) when calling the %s operation%s: %s\n", refused.name, operation, tries, refused.message)
		return 254
	case err != nil:
		fmt.Fprintln(stderr, err)
		return 255
	}
	if query := options["--query"]; query != "" {
		if text, err = search(query, text); err != nil {
			fmt.Fprintf(stderr, "\nBad value for --query %s: %v\n", query, err)
			return 255
		}
	}
	fmt.Fprintln(stdout, string(text))
	return 0
}

// modelled returns the name of an operation in the service's model: "GetRun" for "get-run".
func modelled(operation string) string {
	var name strings.Builder
	for word := range strings.SplitSeq(operation, "-") {
		name.WriteString(strings.ToUpper(word[:min(1, len(word))]) + word[min(1, len(word)):])
	}
	return name.String()
}

// named matches the only supported form of JMESPath.
var named = regexp.MustCompile(`^(runs|uploads)\[\?starts_with\(name, '([^']*)'\)\]\.arn$`)

func search(query string, text []byte) ([]byte, error) {
	m := named.FindStringSubmatch(query)
	if m == nil {
		return nil, errors.New("invalid jmespath expression")
	}
	var answer map[string][]struct{ ARN, Name string }
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, err
	}
	found := []string{}
	for _, one := range answer[m[1]] {
		if strings.HasPrefix(one.Name, m[2]) {
			found = append(found, one.ARN)
		}
	}
	return json.Marshal(found)
}
