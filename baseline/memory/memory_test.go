package memory_test

import (
	"testing"

	"github.com/apkgate/apkgate/baseline"
	"github.com/apkgate/apkgate/baseline/memory"
	"github.com/apkgate/apkgate/baseline/storetest"
)

func TestSuite(t *testing.T) {
	storetest.Suite(t, func(*testing.T) baseline.Store { return memory.New(nil) })
}
