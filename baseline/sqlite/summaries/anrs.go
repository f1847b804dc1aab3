package summaries

import (
	"strings"

	"github.com/apkgate/apkgate/baseline/internal/records"
	"github.com/apkgate/apkgate/run"
)

// SealANRs are what did not respond in the run as it is kept in its place, with a seal
// of what is told beside it; nil where everything did.
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

// beside is what is told of a run beside what did not respond.
func beside(session, version, commit string) string {
	return strings.Join([]string{session, version, commit}, "\x00")
}
