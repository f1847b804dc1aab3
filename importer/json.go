package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/apkgate/apkgate/internal/prose"
)

// number is a JSON number, or a string that contains one. encoding/json by itself would decode null
// as 0: a silent zero.
type number float64

// UnmarshalJSON decodes the number.
func (n *number) UnmarshalJSON(b []byte) error {
	text := string(b)
	if len(text) > 0 && text[0] == '"' {
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v-v != 0 { // not a number, or not a finite one
		return &json.UnmarshalTypeError{Value: prose.Short(string(b)), Type: reflect.TypeFor[number]()}
	}
	*n = number(v)
	return nil
}

func floats(ns []number) []float64 {
	out := make([]float64, len(ns))
	for i, n := range ns {
		out[i] = float64(n)
	}
	return out
}

// explain says where in the JSON it went wrong, and what is allowed there.
func explain(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("the value is %s, want %s", kind.Value, kindName(kind.Type))
	case errors.As(err, &kind):
		return fmt.Errorf("%s is %s, want %s", kind.Field, kind.Value, kindName(kind.Type))
	case errors.As(err, &syntax):
		return fmt.Errorf("not valid JSON at byte %d: %w", syntax.Offset, err)
	}
	return err
}

// kindName names a Go type as JSON does.
func kindName(t reflect.Type) string {
	if t == reflect.TypeFor[number]() {
		return "a finite number"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Bool:
		return "true or false"
	}
	return "a whole number"
}
