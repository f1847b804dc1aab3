package gate

// WithLoss returns the verdict where something was lost. A regression stands; a success or a doubt
// does not, as the lost part is unknown. why describes the loss; "" is none.
func (v Verdict) WithLoss(why string) Verdict {
	if why == "" {
		return v
	}
	v.Lost, v.Rest = why, v.Verdict
	if v.Verdict != Regression {
		v.Verdict = Invalid
	}
	return v
}

// OutcomeOfRuns returns the outcome of the runs that are present, whatever was lost.
func (v Verdict) OutcomeOfRuns() Outcome {
	if v.Lost != "" {
		return v.Rest
	}
	return v.Verdict
}
