package aws

import (
	"context"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/internal/prose"
)

// usdPerMinute is the price of a minute on a phone. The 1,000 free minutes of a new account
// are not subtracted. Source: aws.amazon.com/device-farm/pricing, and Amazon's price list
// AWSDeviceFarm of us-west-2, in force since 2021-09-01, read in November 2026.
const usdPerMinute = 0.17

// phone is a phone in the output of list-devices: a Device of the service's model.
type phone struct {
	ARN, Name    string // "Google Pixel 6"
	OS           string // "13"
	Availability string // HIGHLY_AVAILABLE, AVAILABLE, BUSY or TEMPORARY_NOT_AVAILABLE
}

// Rates returns the prices of the devices.
func (f *Farm) Rates(ctx context.Context, devices []farm.Device) ([]farm.Rate, error) {
	if _, err := f.chosen(ctx, devices); err != nil {
		return nil, err
	}
	rates := make([]farm.Rate, len(devices))
	for i, d := range devices {
		rates[i] = farm.Rate{Device: d, Physical: true, USDPerHour: 60 * usdPerMinute}
		if f.unmetered {
			rates[i].USDPerHour = 0
		}
	}
	return rates, nil
}

// chosen returns the ARNs of devices, in their order. If several phones have the same name and
// Android version, such as one for each carrier, the phone that is available first is chosen.
func (f *Farm) chosen(ctx context.Context, devices []farm.Device) ([]string, error) {
	const doing = "look for the devices"
	phones, err := f.catalogue(ctx)
	if err != nil {
		return nil, farmError(doing, err.Error())
	}
	var arns, missing []string
	for _, d := range devices {
		var best phone
		var versions []string
		for _, p := range phones {
			if p.Name != d.Model {
				continue
			}
			versions = append(versions, p.OS)
			if p.OS == d.Version && (best.ARN == "" || soonness(p) < soonness(best)) {
				best = p
			}
		}
		switch {
		case len(versions) == 0:
			missing = append(missing, "there is no "+d.Model)
		case best.ARN == "":
			slices.Sort(versions)
			missing = append(missing, "the "+d.Model+" has no Android "+d.Version+", but "+prose.List(slices.Compact(versions)))
		}
		arns = append(arns, best.ARN)
	}
	if len(missing) > 0 {
		err := farmError(doing, strings.Join(missing, "; "))
		err.Advice = "aws devicefarm list-devices shows which there are, each with its name and its os"
		return nil, err
	}
	return arns, nil
}

// soonness ranks how soon a phone is available, as far as the farm reports it; less is sooner.
func soonness(p phone) int {
	order := []string{"HIGHLY_AVAILABLE", "AVAILABLE", "BUSY"}
	if at := slices.Index(order, p.Availability); at >= 0 {
		return at
	}
	return len(order)
}

// catalogue lists the public Android phones, once. Private phones are rented by the month and
// exclusive, and don't need a farm.
func (f *Farm) catalogue(ctx context.Context) ([]phone, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.phones != nil {
		return f.phones, nil
	}
	var answer struct{ Devices []phone }
	err := f.ask(ctx, f.project, "list-devices", map[string]any{"filters": []filter{
		{"PLATFORM", "EQUALS", []string{"ANDROID"}}, {"FLEET_TYPE", "EQUALS", []string{"PUBLIC"}},
	}}, &answer, "")
	if err != nil {
		return nil, err
	}
	f.phones = slices.DeleteFunc(answer.Devices, func(p phone) bool { return !arn.MatchString(p.ARN) })
	return f.phones, nil
}

// filter is a DeviceFilter of the service's model.
type filter struct {
	Attribute string   `json:"attribute"`
	Operator  string   `json:"operator"`
	Values    []string `json:"values"`
}
