package wording

import (
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/run"
)

// Context names a device and its network.
func Context(c map[string]string) string {
	title := Model(c)
	if sdk := Name(c["sdk"]); sdk != "" {
		title += ", Android " + sdk
	}
	if n := Name(c["network"]); n != "" {
		title += ", " + n
	}
	return title
}

// Event returns a UI event for people: its name, or a description of "" and the start.
func Event(event string) string {
	switch event {
	case "":
		return "whole run"
	case run.Start:
		return "start"
	}
	return Name(event)
}

// CompareVersions sorts 9 before 10 and 5.0.2 before 5.1.
func CompareVersions(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		m, errX := strconv.Atoi(x)
		n, errY := strconv.Atoi(y)
		if errX == nil && errY == nil {
			return m - n
		}
		return strings.Compare(x, y)
	})
}

// Model returns a device for people: "LG Optimus L3".
func Model(context map[string]string) string {
	maker, model := Name(context["manufacturer"]), Name(context["model"])
	if maker == "" || strings.HasPrefix(strings.ToLower(model), strings.ToLower(maker)) {
		return model
	}
	return strings.TrimSpace(maker + " " + model)
}

// Commit returns a commit as people quote it.
func Commit(commit string) string {
	if len(commit) >= 40 && strings.Trim(commit, "0123456789abcdef") == "" {
		return commit[:10]
	}
	return commit
}
