package gradle

import (
	"encoding/json"
	"path"
	"strings"
)

// output is an APK that was built, as the Android plugin's output-metadata.json says.
type output struct {
	variant, applicationID, file string
}

// metadata is output-metadata.json, version 3.
type metadata struct {
	ApplicationID string `json:"applicationId"`
	VariantName   string `json:"variantName"`
	Elements      []struct {
		Type       string `json:"type"`
		OutputFile string `json:"outputFile"`
	} `json:"elements"`
}

// maxOutputs limits the variants that were built.
const maxOutputs = 200

// outputs returns the APKs that were built of a module, or of its connected tests.
func (p *Project) outputs(m *Module, test bool) (out []output) {
	p.tree.walk(path.Join(m.dir, "build/outputs/apk"), func(name string) {
		if ofTest := strings.Contains(name, "/apk/androidTest/"); path.Base(name) != "output-metadata.json" || ofTest != test || len(out) >= maxOutputs {
			return
		}
		text, err := p.tree.read(name)
		var list metadata
		if err != nil || json.Unmarshal([]byte(text), &list) != nil || !identifier.MatchString(list.ApplicationID) {
			return
		}
		for _, e := range list.Elements { // ONE_OF_MANY is an APK of one density or ABI
			file := path.Join(path.Dir(name), e.OutputFile)
			if e.Type != "ONE_OF_MANY" && path.Base(e.OutputFile) == e.OutputFile && p.tree.has(file) {
				out = append(out, output{strings.TrimSuffix(list.VariantName, "AndroidTest"), list.ApplicationID, file})
				return
			}
		}
	})
	return out
}

// outputOf returns the APK of a variant, if it was built. Where the project's own plugins may add
// flavors, any of this build type is taken, unless the variant was chosen.
func (p *Project) outputOf(m *Module, v variant, test, chosen bool) (output, bool) {
	all := p.outputs(m, test)
	for _, o := range all {
		if o.variant == v.String() {
			return o, true
		}
	}
	for _, o := range all {
		if p.ownPlugins && !chosen && len(v.flavors) == 0 && strings.HasSuffix(o.variant, capital(v.build)) {
			return o, true
		}
	}
	return output{}, false
}
