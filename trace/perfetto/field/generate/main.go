// Command generate writes the numbers of messages' fields as Go constants, from .proto
// files. It knows as much of their language as Perfetto's files have, fetches nothing, and
// is part of no build: go generate runs it in package field.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	list := flag.String("messages", "messages.txt", "the messages, with what their constants' names begin with")
	out := flag.String("out", "numbers.go", "the file to write")
	flag.Parse()
	if err := run(flag.Args(), *list, *out); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(protos []string, list, out string) error {
	messages := map[string]*message{}
	for _, path := range protos {
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		parse(messages, filepath.Base(path), string(source))
	}
	wanted, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	code, err := constants(messages, string(wanted))
	if err != nil {
		return err
	}
	return os.WriteFile(out, code, 0o644)
}
