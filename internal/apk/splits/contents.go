package splits

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxParsed limits what is kept of a table of contents: variants, modules, APKs, and their targets.
// A large app has some ten thousand APKs.
const maxParsed = 1_000_000

// reader reads messages, within a budget.
type reader struct{ left int }

// spend takes one off the budget.
func (r *reader) spend() error {
	if r.left--; r.left < 0 {
		return fmt.Errorf("it has more than %d entries", maxParsed)
	}
	return nil
}

func parseTOC(data []byte) (t toc, err error) {
	r := &reader{left: maxParsed}
	err = message(data, func(n protowire.Number, f field) (err error) {
		switch n {
		case 1:
			t.variants, err = add(r, t.variants, f, r.variant)
		case 3:
			t.assets, err = add(r, t.assets, f, func(b []byte) (module, error) { return r.module(b, 4) })
		case 4:
			t.pkg = string(f.bytes)
		}
		return err
	})
	return t, err
}

// field is a field of a message: a number, or bytes.
type field struct {
	number uint64
	bytes  []byte
}

// add appends the contents of a field.
func add[T any](r *reader, list []T, f field, read func([]byte) (T, error)) ([]T, error) {
	if err := r.spend(); err != nil {
		return nil, err
	}
	one, err := read(f.bytes)
	return append(list, one), err
}

func (r *reader) variant(data []byte) (v variant, err error) {
	err = message(data, func(n protowire.Number, f field) (err error) {
		switch n {
		case 1: // its numbers of fields are others than an APK's
			v.wants, _, err = r.target(f.bytes, map[protowire.Number]string{1: "api", 2: "abi", 3: "density"})
		case 2:
			v.sets, err = add(r, v.sets, f, func(b []byte) (module, error) { return r.module(b, 6) })
		case 3:
			v.number = f.number
		}
		return err
	})
	return v, err
}

// module reads an ApkSet or an AssetSliceSet, whose metadata has the delivery in the field of that
// number.
func (r *reader) module(data []byte, delivery protowire.Number) (m module, err error) {
	err = message(data, func(n protowire.Number, f field) (err error) {
		switch n {
		case 1:
			err = r.metadata(f.bytes, delivery, &m)
		case 2:
			m.apks, err = add(r, m.apks, f, r.description)
		}
		return err
	})
	return m, err
}

func (r *reader) metadata(data []byte, delivery protowire.Number, m *module) error {
	return message(data, func(n protowire.Number, f field) (err error) {
		switch n {
		case 1:
			m.name = string(f.bytes)
		case 2:
			m.onDemand = f.number != 0
		case delivery:
			m.delivery = f.number
		case 5:
			m.wants, m.featured, err = r.target(f.bytes, map[protowire.Number]string{1: "api"})
		}
		return err
	})
}

func (r *reader) description(data []byte) (d description, err error) {
	err = message(data, func(n protowire.Number, f field) (err error) {
		switch n {
		case 1:
			d.wants, d.tiered, err = r.target(f.bytes, map[protowire.Number]string{1: "abi", 3: "language", 4: "density", 5: "api"})
		case 2:
			d.path = string(f.bytes)
		case 5:
			d.instant = true
		}
		return err
	})
	return d, err
}

// target reads a targeting, whose fields are of these kinds. other reports that there is more than
// that.
func (r *reader) target(data []byte, kinds map[protowire.Number]string) (t target, other bool, err error) {
	err = message(data, func(n protowire.Number, f field) error {
		var to **targeting
		switch kinds[n] {
		case "abi":
			to = &t.abi
		case "density":
			to = &t.density
		case "language":
			to = &t.language
		case "api":
			to = &t.api
		default:
			other = true
			return nil
		}
		if *to == nil {
			*to = new(targeting)
		}
		return errors.Join(r.spend(), r.targeting(f.bytes, kinds[n], *to))
	})
	return t, other, err
}

// targeting reads the values and the alternatives of one kind.
func (r *reader) targeting(data []byte, kind string, t *targeting) error {
	return message(data, func(n protowire.Number, f field) error {
		if n != 1 && n != 2 {
			return nil
		}
		if err := r.spend(); err != nil {
			return err
		}
		own := n == 1
		if kind == "language" {
			t.put(own, string(f.bytes))
			return nil
		}
		var v uint64 // of the alias, or the dpi, or the API level
		var dpi bool
		err := message(f.bytes, func(n protowire.Number, f field) error {
			switch {
			case kind == "api" && n == 1: // google.protobuf.Int32Value
				return message(f.bytes, func(_ protowire.Number, f field) error { v = f.number; return nil })
			case n == 1, n == 2 && kind == "density":
				v, dpi = f.number, n == 2
			}
			return nil
		})
		switch kind {
		case "abi":
			t.put(own, at(abiNames, v, "an ABI of tomorrow"))
		case "density":
			value := small(v)
			if !dpi {
				value = at(densityAliases, v, 0)
			}
			if own {
				t.dpi = append(t.dpi, value)
			} else {
				t.otherDPI = append(t.otherDPI, value)
			}
		case "api":
			if own {
				t.min = small(v)
			} else {
				t.otherMin = append(t.otherMin, small(v))
			}
		}
		return err
	})
}

// at returns an entry of a list, or none for an index outside of it.
func at[T any](list []T, i uint64, none T) T {
	if i < uint64(len(list)) {
		return list[i]
	}
	return none
}

func (t *targeting) put(own bool, value string) {
	if own {
		t.values = append(t.values, value)
	} else {
		t.alternatives = append(t.alternatives, value)
	}
}

// small returns a number that fits everywhere.
func small(v uint64) int { return int(min(v, 1<<30)) }

// message calls f for each field.
func message(data []byte, f func(n protowire.Number, f field) error) error {
	for len(data) > 0 {
		n, kind, size := protowire.ConsumeTag(data)
		if size < 0 {
			return errCut
		}
		data = data[size:]
		var value field
		switch kind {
		case protowire.VarintType:
			value.number, size = protowire.ConsumeVarint(data)
		case protowire.BytesType:
			value.bytes, size = protowire.ConsumeBytes(data)
		default:
			size = protowire.ConsumeFieldValue(n, kind, data)
		}
		if size < 0 {
			return errCut
		}
		data = data[size:]
		if err := f(n, value); err != nil {
			return err
		}
	}
	return nil
}

var errCut = errors.New("it is cut short, or no table of contents")
