package gate

// Lacking is the verdict where something was lost: what is left can be a regression, but no
// success and no doubt, as nobody knows what the rest would have shown. why says what was
// lost; nothing was where it is "".
func (v Verdict) Lacking(why string) Verdict {
	if why == "" {
		return v
	}
	v.Lost, v.Rest = why, v.Verdict
	if v.Verdict != Regression {
		v.Verdict = Invalid
	}
	return v
}

// OfRuns is what the runs that are here came to, whatever was lost beside them.
func (v Verdict) OfRuns() Outcome {
	if v.Lost != "" {
		return v.Rest
	}
	return v.Verdict
}
