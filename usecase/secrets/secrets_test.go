package secrets

import (
	"slices"
	"testing"
)

// What a secret is called is anybody's choice: none of the keys' and passwords' names that teams
// use reaches a workload.
func TestWorkloadEnvironment(t *testing.T) {
	got := WorkloadEnvironment([]string{"PATH=/bin", "JAVA_HOME=/j", "ANDROID_HOME=/a", "ANDROID_SERIAL=e", "LC_ALL=C", "MAESTRO_PASSWORD=test", "MAESTRO_CLOUD_API_KEY=k",
		"ANDROID_STORE_PASSWORD=p", "ANDROID_SIGNING_KEY=k", "ANDROID_KEYSTORE_PASS=p", "ANDROID_KEY_ALIAS_PASS=p", "ADB_PASS=p", "JAVA_KEY=k", "XDG_KEY=k", "LC_PASS=p",
		"GITHUB_TOKEN=t", "AWS_SECRET_ACCESS_KEY=s", "KEYSTORE_PASS=p", "GPG_PASSPHRASE=p", "SIGNING_KEY=k", "DATABASE_URL=u", "SLACK_WEBHOOK_URL=u", "GH_PAT=t",
		"NPM_AUTH=a", "ORG_GRADLE_PROJECT_signingKey=k", "PGHOST=h", "https_proxy=p", "odd"})
	want := []string{"PATH=/bin", "JAVA_HOME=/j", "ANDROID_HOME=/a", "ANDROID_SERIAL=e", "LC_ALL=C", "MAESTRO_PASSWORD=test", "https_proxy=p"}
	if !slices.Equal(got, want) {
		t.Errorf("it is %q, want %q", got, want)
	}
}
