// Package pprofile builds profiles for pprof from stacks of named functions: the tables of
// functions, locations and mappings that every profile needs.
//
// It owns no kind of sample: who writes a profile adds the samples and their types.
package pprofile

import "github.com/google/pprof/profile"

// Frame is one function of a stack. Two frames with the same name and file are the same function.
type Frame struct {
	Name string
	File string // of the source
	Line int    // 0 where unknown
	// Mapping is the program or library, "" for the app.
	Mapping string
}

// Builder makes a profile.
type Builder struct {
	*profile.Profile
	app       string
	mappings  map[string]*profile.Mapping
	functions map[function]*profile.Function
	locations map[Frame]*profile.Location
}

type function struct{ name, file string }

// New returns an empty profile of an app, whose name stands for all of its code; "" is any app.
func New(app string) *Builder {
	if app == "" {
		app = "app"
	}
	b := &Builder{
		Profile: &profile.Profile{}, app: app, mappings: map[string]*profile.Mapping{},
		functions: map[function]*profile.Function{}, locations: map[Frame]*profile.Location{},
	}
	b.mapping("") // pprof takes the first mapping for the program
	return b
}

// Location returns the location of a frame.
func (b *Builder) Location(f Frame) *profile.Location {
	l, ok := b.locations[f]
	if !ok {
		l = &profile.Location{
			ID: uint64(len(b.Profile.Location)) + 1, Mapping: b.mapping(f.Mapping),
			Line: []profile.Line{{Function: b.function(function{f.Name, f.File}), Line: int64(f.Line)}},
		}
		b.locations[f] = l
		b.Profile.Location = append(b.Profile.Location, l)
	}
	return l
}

func (b *Builder) function(key function) *profile.Function {
	f, ok := b.functions[key]
	if !ok {
		f = &profile.Function{ID: uint64(len(b.Function)) + 1, Name: key.name, SystemName: key.name, Filename: key.file}
		b.functions[key] = f
		b.Function = append(b.Function, f)
	}
	return f
}

func (b *Builder) mapping(file string) *profile.Mapping {
	if file == "" {
		file = b.app
	}
	m, ok := b.mappings[file]
	if !ok {
		m = &profile.Mapping{ID: uint64(len(b.Mapping)) + 1, File: file, HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
		b.mappings[file] = m
		b.Mapping = append(b.Mapping, m)
	}
	return m
}
