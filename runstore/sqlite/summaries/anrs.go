package summaries

import (
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/runstore/internal/records"
)

// SealANRs returns the ANRs of the run as stored in its place, with a seal that covers the fields
// listed with them; nil for none.
func SealANRs(p Place, r run.Run) ([]byte, error) {
	packed, err := records.PackANRs(r.ANRs)
	if err != nil || packed == nil {
		return nil, err
	}
	return Seal(p, beside(r.Session, r.App.Version, r.Source.Commit), packed), nil
}

// UnsealANRs returns what SealANRs has sealed, without its seal.
func UnsealANRs(p Place, session, version, commit string, sealed []byte) ([]byte, error) {
	return Unseal(p, beside(session, version, commit), sealed)
}

// beside returns the fields of a run that are listed with its ANRs.
func beside(session, version, commit string) string {
	return strings.Join([]string{session, version, commit}, "\x00")
}
