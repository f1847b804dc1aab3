package threads

import (
	"strings"

	"github.com/apkgate/apkgate/trace/perfetto/messages"
)

// cloneThread is CLONE_THREAD of the kernel's sched.h: what is born shares its
// parent's process.
const cloneThread = 0x10000

// sameProcess reports that a task is of its parent's process; else it begins one.
func sameProcess(task messages.NewTask) bool { return task.CloneFlags&cloneThread != 0 }

// Limits on a command line.
const (
	maxWord  = 8 << 10 // bytes of a word
	maxWords = 1_000
)

// firstWord returns the first word of a command line that is not empty, as a part of the message.
func firstWord(p *messages.TreeProcess) []byte {
	for word := range p.Cmdline.Each {
		if len(word) > 0 {
			return word
		}
	}
	return nil
}

// words returns the words of a command line, made valid and bounded.
func words(p *messages.TreeProcess) []string {
	var list []string
	for word := range p.Cmdline.Each {
		if len(list) == maxWords {
			break
		}
		list = append(list, strings.ToValidUTF8(string(word[:min(len(word), maxWord)]), "�"))
	}
	return list
}
