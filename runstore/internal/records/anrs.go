package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/apkgate/apkgate/run"
)

// PackANRs packs the ANRs of a run, as JSON like the record's, in a zstd frame; nil for none.
func PackANRs(list []run.ANR) ([]byte, error) {
	if len(list) == 0 {
		return nil, nil
	}
	data, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("encode ANRs: %w", err)
	}
	return packer().EncodeAll(data, nil), nil
}

// ANRsIn unpacks what PackANRs has packed. Anything else is damage.
func ANRsIn(packed []byte) ([]run.ANR, error) {
	data, err := unpacker().DecodeAll(packed, nil)
	if err != nil {
		return nil, Damaged(fmt.Errorf("what did not respond can't be decompressed: %w", err))
	}
	var list []run.ANR
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, Damaged(fmt.Errorf("what did not respond can't be read: %w", err))
	}
	if len(list) == 0 || len(list) > run.MaxANRs {
		return nil, Damaged(errors.New("the number of those that did not respond is wrong"))
	}
	return list, nil
}

// CheckANRs checks that the stored ANRs of a run, nil for none, are those of its record. How they
// are compressed does not matter.
func CheckANRs(packed []byte, r run.Run) error {
	var kept []run.ANR
	if packed != nil {
		var err error
		if kept, err = ANRsIn(packed); err != nil {
			return err
		}
	}
	if len(kept) == 0 && len(r.ANRs) == 0 {
		return nil
	}
	got, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	want, err := json.Marshal(r.ANRs)
	if err == nil && !bytes.Equal(got, want) {
		err = Damaged(errors.New("its ANRs are listed otherwise than its record says"))
	}
	return err
}

// MayHaveANRs reports whether the packed record of a run may have any. It only searches for the
// section's name: a record that can't be unpacked has none.
func MayHaveANRs(packed []byte) bool {
	data, err := unpacker().DecodeAll(packed, nil)
	return err == nil && bytes.Contains(data, []byte(`"anrs":`))
}
