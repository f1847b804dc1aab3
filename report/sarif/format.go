package sarif

// Log is a SARIF file, and the others its parts that are written, as named by OASIS SARIF 2.1.0.
type (
	Log struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []analysis `json:"runs"`
	}
	analysis struct {
		Tool       tool     `json:"tool"`
		Results    []result `json:"results"`
		ColumnKind string   `json:"columnKind"`
	}
	tool struct {
		Driver driver `json:"driver"`
	}
	driver struct {
		Name           string `json:"name"`
		Version        string `json:"version,omitempty"`
		InformationURI string `json:"informationUri"`
		Rules          []rule `json:"rules"`
	}
	rule struct {
		ID                   string         `json:"id"`
		ShortDescription     text           `json:"shortDescription"`
		FullDescription      text           `json:"fullDescription"`
		DefaultConfiguration configuration  `json:"defaultConfiguration"`
		Properties           map[string]any `json:"properties"`
	}
	configuration struct {
		Level string `json:"level"`
	}
	result struct {
		RuleID              string            `json:"ruleId"`
		RuleIndex           int               `json:"ruleIndex"`
		Level               string            `json:"level"`
		Message             text              `json:"message"`
		Locations           []location        `json:"locations"`
		PartialFingerprints map[string]string `json:"partialFingerprints"`
	}
	text struct {
		Text string `json:"text"`
	}
	location struct {
		PhysicalLocation physical `json:"physicalLocation"`
	}
	physical struct {
		ArtifactLocation artifact `json:"artifactLocation"`
		Region           region   `json:"region"`
	}
	artifact struct {
		URI       string `json:"uri"`
		URIBaseID string `json:"uriBaseId"`
	}
	region struct {
		StartLine int `json:"startLine"`
	}
)
