package install

import (
	"slices"
	"testing"
)

// The first user's runtime permissions are those that pm clear revokes: permissions granted at
// installation, to another user or to a hidden package are not included.
func TestGrantedPermissions(t *testing.T) {
	t.Parallel()
	const text = `Packages:
  Package [com.example] (41fc59c8):
    requested permissions:
      android.permission.CAMERA
      android.permission.RECORD_AUDIO
    install permissions:
      android.permission.INTERNET: granted=true
    User 0: ceDataInode=344151 installed=true hidden=false
      gids=[3002]
      runtime permissions:
        android.permission.CAMERA: granted=true, flags=[ USER_SENSITIVE_WHEN_GRANTED]
        android.permission.RECORD_AUDIO: granted=false, flags=[ USER_SENSITIVE_WHEN_GRANTED]
        com.example.permission.OWN: granted=true
        a; reboot: granted=true
      disabledComponents:
        com.example.Off
    User 10: ceDataInode=0 installed=true hidden=false
      runtime permissions:
        android.permission.RECORD_AUDIO: granted=true

Hidden system packages:
  Package [com.example] (51fc59c8):
    User 0: ceDataInode=344151
      runtime permissions:
        android.permission.READ_SMS: granted=true
`
	want := []string{"android.permission.CAMERA", "com.example.permission.OWN"}
	if got := grantedPermissions(text); !slices.Equal(got, want) {
		t.Errorf("granted %q, want %q", got, want)
	}
	if got := grantedPermissions("Unable to find package: com.example\n"); got != nil {
		t.Errorf("granted %q of a package that is not there", got)
	}
}
