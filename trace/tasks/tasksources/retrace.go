package tasksources

import (
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace"
	"github.com/apkgate/apkgate/trace/anr/signature"
	"github.com/apkgate/apkgate/trace/r8map"
	"github.com/apkgate/apkgate/trace/tasks"
)

// retrace gives classes and frames that an app wrote itself, as it was compiled, the names of the
// source.
func retrace(list []tasks.Task, mapping *r8map.Map) {
	names, contexts := map[string]string{}, map[*string][]string{}
	for i := range list {
		t := &list[i]
		name, known := names[t.Name]
		if !known {
			name = retraced(t.Name, mapping)
			names[t.Name] = name
		}
		t.Name = name
		if len(t.Context) == 0 {
			continue
		}
		first := &t.Context[0] // equal contexts are kept once
		context, known := contexts[first]
		if !known {
			for _, frame := range t.Context {
				context = append(context, signature.Retraced(frame, mapping)...)
			}
			context = context[:min(len(context), run.MaxStack)]
			contexts[first] = context
		}
		t.Context = context
	}
}

// retraced is the name of a task: a class, or that of a handler and its message's code.
func retraced(name string, mapping *r8map.Map) string {
	class, code, coded := strings.Cut(name, " ")
	original, ok := mapping.Class(class)
	if !ok {
		return name
	}
	if coded {
		original += " " + code
	}
	return trace.Name(original)
}
