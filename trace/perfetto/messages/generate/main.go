// Command generate writes decoders of messages, and the numbers of their fields as Go
// constants, from messages.txt. It fetches nothing, and is part of no build: go generate runs
// it in package messages.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run("messages.txt"); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(list string) error {
	declared, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	files, err := made(string(declared))
	if err != nil {
		return fmt.Errorf("%s: %w", list, err)
	}
	for path, code := range files {
		if err := os.WriteFile(path, code, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// made are the files generated from a declaration, by their paths from package messages.
func made(declared string) (map[string][]byte, error) {
	list, err := parse(declared)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for path, write := range map[string]func([]message) ([]byte, error){
		"decoders.go": decoders, "generate/all_test.go": table, "../field/numbers.go": numbers,
	} {
		if files[path], err = write(list); err != nil {
			return nil, err
		}
	}
	return files, nil
}
