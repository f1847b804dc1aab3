package desktop

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/genymotion"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// make creates a device with the lease's name and starts it.
func (l *Lab) make(ctx context.Context, spec boot.Spec, held *lease.Held, tell func(string)) error {
	doing := "create a " + prose.Quote(strings.TrimSpace(spec.Model+" "+spec.Android), 80)
	from, err := l.source(ctx, doing, spec)
	if err != nil {
		return err
	}
	if err := held.Note(noteCreating, boot.Now()); err != nil {
		return err
	}
	tell("creating a " + strings.Join(from, ", ") + ", which may take long where its image has to be downloaded")
	args := append([]string{"admin", "create"}, from...)
	args = append(append(args, held.ID()), options(spec)...)
	if _, err := l.run(ctx, doing, createWithin, args...); err != nil {
		return unknownTo(err)
	}
	if err := held.Note(noteCreated, "yes"); err != nil {
		return err
	}
	return l.start(ctx, held.ID(), held, tell)
}

// unknownTo adds to the error for a device that could not be created how to list what exists.
func unknownTo(err error) error {
	var failed *genymotion.RefusedError
	if errors.As(err, &failed) && slices.Contains([]int{codeBadValue, codeFailed, codeNoDevice}, failed.Code) && !failed.Says("licen") {
		failed.Failed.Advice = "gmtool admin hwprofiles shows what model may be, and gmtool admin osimages what android may be (versions before 3: gmtool admin templates)"
	}
	return err
}

// source returns the arguments for the source of a device. Newer versions have a hardware
// profile and an Android image; older ones, without hardware profiles, have a template that is
// both. gmtool is queried which of them it is, since the version of the change is not
// documented.
func (l *Lab) source(ctx context.Context, doing string, spec boot.Spec) ([]string, error) {
	profiles, err := l.run(ctx, doing, shortly, "admin", "hwprofiles")
	var failed *genymotion.RefusedError
	switch {
	case errors.As(err, &failed) && failed.Code == codeNoAction:
		return l.template(ctx, doing, spec)
	case err != nil:
		return nil, err
	}
	images, err := l.run(ctx, doing, shortly, "admin", "osimages")
	if err != nil {
		return nil, err
	}
	return []string{spelled(profiles, spec.Model, strings.EqualFold), spelled(images, image(spec.Android), genymotion.SameVersion)}, nil
}

// spelled returns a name in the spelling of the list, or unchanged if it is not found. The
// format of these lists is not documented; in other lists of gmtool, names are on lines of
// their own, between bars or after "Name :".
func spelled(list, name string, same func(a, b string) bool) string {
	for line := range strings.Lines(list) {
		_, value, _ := strings.Cut(line, ":")
		for _, cell := range append(strings.Split(line, "|"), value) {
			if cell = strings.TrimSpace(cell); cell != "" && same(cell, name) {
				return cell
			}
		}
	}
	return name
}

// template finds the template in an older version.
func (l *Lab) template(ctx context.Context, doing string, spec boot.Spec) ([]string, error) {
	text, err := l.run(ctx, doing, shortly, "admin", "templates", "--full")
	if err != nil {
		return nil, err
	}
	offer, doubt := genymotion.Choose("template", readTemplates(text), spec.Model, spec.Android)
	if doubt != nil {
		return nil, doubt.Failed(called, doing, "gmtool admin templates shows those that there are")
	}
	return []string{offer.ID}, nil
}
