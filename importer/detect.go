package importer

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/apkgate/apkgate/run"
)

// Format is a kind of result file.
type Format string

// The formats that Detect recognizes.
const (
	Unknown    Format = ""
	Record     Format = "apkgate.run"             // apkgate's own, JSON or JSON Lines
	AndroidX   Format = "androidx benchmark"      // *-benchmarkData.json
	List       Format = "list of name and value"  // [{"name","unit","value"}]
	CSV        Format = "CSV with name and value" // name,unit,value
	Pairs      Format = "lines of name=value"     // search=31ms
	Flashlight Format = "flashlight results"      // flashlight test --resultsFilePath
	Printed    Format = "am instrument -r"        // the output of an instrumentation with benchmarks
)

func formatNames() []string {
	return []string{string(Record), string(AndroidX), string(List), string(CSV), string(Pairs), string(Flashlight), string(Printed)}
}

// Detect returns the format of a file by its first keys; the first 64 KiB of a file are enough. A
// file that is truncated or damaged further on is recognized too, so that its own reader reports
// the error.
func Detect(data []byte) Format {
	data = trimBOM(data)
	dec := json.NewDecoder(bytes.NewReader(data))
	switch tok, _ := dec.Token(); tok {
	case json.Delim('['):
		return detectList(dec)
	case json.Delim('{'):
		return detectObject(dec)
	}
	if isPrinted(data) {
		return Printed
	}
	if _, ok := csvHeader(data); ok {
		return CSV
	}
	if isPairs(data) {
		return Pairs
	}
	return Unknown
}

func detectList(dec *json.Decoder) Format {
	tok, err := dec.Token()
	switch {
	case err != nil || tok == json.Delim(']'):
		return List // an empty one: its reader reports that
	case tok == json.Delim('{'):
		for key := range keys(dec) {
			switch key {
			case "name", "unit", "value":
				return List
			}
		}
	}
	return Unknown
}

func detectObject(dec *json.Decoder) Format {
	repeated := false
	for key, value := range keys(dec) {
		switch key {
		case "format":
			var format string
			if json.Unmarshal(value(), &format) == nil && strings.HasPrefix(format, strings.TrimSuffix(run.Format, "1")) {
				return Record
			}
		case "benchmarks":
			return AndroidX
		case "app", "scenario":
			return Record
		case "iterations":
			repeated = true
		}
	}
	if repeated {
		return Flashlight
	}
	return Unknown
}

// keys yields the keys of the object that dec has just entered. The value is read on request, or
// skipped.
func keys(dec *json.Decoder) func(yield func(string, func() json.RawMessage) bool) {
	return func(yield func(string, func() json.RawMessage) bool) {
		for dec.More() {
			tok, err := dec.Token()
			key, ok := tok.(string)
			if err != nil || !ok {
				return
			}
			var raw json.RawMessage
			read := false
			value := func() json.RawMessage {
				if !read {
					read, err = true, dec.Decode(&raw)
				}
				return raw
			}
			if !yield(key, value) {
				return
			}
			if value(); err != nil {
				return
			}
		}
	}
}

func trimBOM(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) }
