package phone

import (
	"maps"
	"slices"
)

// command is something that the shell can run. It may end at once or leave its
// end to the clock; then is called once, with the exit code.
type command struct {
	since int // the API level that brought it
	run   func(c *call, then func(code int))
}

// now is a command that ends at once.
func now(f func(c *call) int) func(c *call, then func(code int)) {
	return func(c *call, then func(code int)) { then(f(c)) }
}

// commands are all that a phone knows. They are filled in by init, because a
// command can run commands.
var commands map[string]command

func init() {
	commands = map[string]command{
		"true":     {run: now(func(*call) int { return 0 })},
		":":        {run: now(func(*call) int { return 0 })},
		"false":    {run: now(func(*call) int { return 1 })},
		"echo":     {run: now(echo)},
		"exit":     {run: exit},
		"sleep":    {run: sleep},
		"sh":       {run: runScript},
		"cd":       {run: now(func(*call) int { return 0 })},
		"chmod":    {run: now(func(*call) int { return 0 })},
		"sync":     {run: now(func(*call) int { return 0 })},
		"cat":      {run: now(cat)},
		"ls":       {run: now(ls)},
		"rm":       {run: now(rm)},
		"test":     {run: now(test)},
		"[":        {run: now(test)},
		"df":       {run: now(df)},
		"grep":     {run: now(grep)},
		"getprop":  {run: now(getprop)},
		"setprop":  {run: now(setprop)},
		"settings": {since: 17, run: now(settings)},
		"pidof":    {since: 23, run: now(pidof)},
		"wm":       {since: 18, run: now(wm)},
		"svc":      {run: now(svc)},
		"log":      {run: now(logCommand)},
		"logcat":   {run: logcatCommand},
		"dumpsys":  {run: now(dumpsys)},
		"pm":       {run: now(pm)},
		"cmd":      {since: 24, run: now(cmd)},
		"am":       {run: am},
		"input":    {run: input},
		"monkey":   {run: monkey},
		"kill":     {run: now(killCommand)},
		"run-as":   {run: runAs},
		"pkill":    {since: 23, run: now(pkill)},
		"nohup":    {run: prefixed},
		"setsid":   {since: 23, run: prefixed},
		"wait":     {run: waitCommand},
		"perfetto": {since: 28, run: perfettoCommand},

		"simpleperf":        {since: 28, run: simpleperfCommand},
		"pushed simpleperf": {run: simpleperfCommand},
		"reboot":            {run: now(rebootCommand)},
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
