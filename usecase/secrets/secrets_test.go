package secrets

import (
	"slices"
	"testing"
)

func TestWorkloadEnvironment(t *testing.T) {
	got := WorkloadEnvironment([]string{"PATH=/bin", "JAVA_HOME=/j", "ANDROID_HOME=/a", "MAESTRO_PASSWORD=test", "MAESTRO_CLOUD_API_KEY=k",
		"ANDROID_STORE_PASSWORD=p", "GITHUB_TOKEN=t", "AWS_SECRET_ACCESS_KEY=s", "PGHOST=h", "https_proxy=p", "odd"})
	want := []string{"PATH=/bin", "JAVA_HOME=/j", "ANDROID_HOME=/a", "MAESTRO_PASSWORD=test", "https_proxy=p"}
	if !slices.Equal(got, want) {
		t.Errorf("it is %q, want %q", got, want)
	}
}
