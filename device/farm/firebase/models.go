package firebase

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/internal/prose"
)

// Prices of an hour on a device. The free minutes of each day are not subtracted. Source:
// firebase.google.com/docs/test-lab/usage-quotas-pricing, read in November 2026.
const (
	physicalUSDPerHour = 5
	virtualUSDPerHour  = 1
)

// model is an AndroidModel of the service, as printed by gcloud firebase test android models
// list --format=json.
type model struct {
	ID       string   `json:"id"`
	Form     string   `json:"form"` // PHYSICAL, VIRTUAL or EMULATOR
	Versions []string `json:"supportedVersionIds"`
}

// Rates returns the prices of the devices. A device of an unknown form counts as physical,
// which costs more.
func (f *Farm) Rates(ctx context.Context, devices []farm.Device) ([]farm.Rate, error) {
	const doing = "look for the devices"
	models, err := f.catalogue(ctx)
	if err != nil {
		return nil, err
	}
	var rates []farm.Rate
	var missing []string
	for _, d := range devices {
		at := slices.IndexFunc(models, func(m model) bool { return m.ID == d.Model })
		switch {
		case at < 0:
			missing = append(missing, "there is no model "+d.Model)
			continue
		case !slices.Contains(models[at].Versions, d.Version):
			missing = append(missing, "the model "+d.Model+" has no Android "+d.Version+", but "+prose.List(models[at].Versions))
			continue
		}
		r := farm.Rate{Device: d, Physical: true, USDPerHour: physicalUSDPerHour}
		if form := models[at].Form; form == "VIRTUAL" || form == "EMULATOR" {
			r.Physical, r.USDPerHour = false, virtualUSDPerHour
		}
		rates = append(rates, r)
	}
	if len(missing) > 0 {
		return nil, farmError(doing, strings.Join(missing, "; "), "gcloud firebase test android models list shows which there are")
	}
	return rates, nil
}

// catalogue lists the models, once.
func (f *Farm) catalogue(ctx context.Context) ([]model, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.models != nil {
		return f.models, nil
	}
	const doing = "list the models"
	out, err := f.ask(ctx, doing, "firebase", "test", "android", "models", "list", "--format=json", "--project="+f.project)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(out, &f.models); err != nil {
		return nil, farmError(doing, "read gcloud's answer: "+err.Error(), "gcloud components update")
	}
	return f.models, nil
}
