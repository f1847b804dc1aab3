package gradle

import (
	"errors"
	"slices"
)

// block is a statement, with the statements in its braces if it has any.
type block struct {
	head []token
	body []block
	open bool // it has braces
}

// maxDepth limits the nesting of braces.
const maxDepth = 50

// parse parses a build file into statements. Braces in the middle of one end it: what follows them
// is the next. doubt says what is wrong with a file that is read all the same.
func parse(src string) (_ block, doubt string, err error) {
	all, err := tokens(src)
	if err != nil {
		return block{}, "", err
	}
	stack := []block{{open: true}}
	var head []token
	end := func() {
		if len(head) > 0 {
			top := &stack[len(stack)-1]
			top.body = append(top.body, block{head: head})
			head = nil
		}
	}
	round := 0
	for i, t := range all {
		switch {
		case t.kind == sign && t.text == "{":
			if len(stack) > maxDepth {
				return block{}, "", errors.New("its braces are nested too deep")
			}
			stack, head, round = append(stack, block{head: head, open: true}), nil, 0
		case t.kind == sign && t.text == "}":
			end()
			round = 0
			if len(stack) == 1 {
				doubt = "a brace is closed that is not open"
				continue
			}
			stack = closed(stack)
		case t.kind == line:
			if round == 0 && !continues(all, i) {
				end()
			}
		default:
			if t.kind == sign && (t.text == "(" || t.text == "[") {
				round++
			}
			if t.kind == sign && (t.text == ")" || t.text == "]") {
				round = max(0, round-1)
			}
			head = append(head, t)
		}
	}
	end()
	for len(stack) > 1 {
		doubt, stack = "a brace is not closed", closed(stack)
	}
	return stack[0], doubt, nil
}

// closed returns the stack after the end of its innermost block.
func closed(stack []block) []block {
	done, stack := stack[len(stack)-1], stack[:len(stack)-1]
	top := &stack[len(stack)-1]
	top.body = append(top.body, done)
	return stack
}

// continues reports whether a statement continues after the end of its line: the next line has its
// brace or its next call, or this one ends with a comma or an equals sign.
func continues(all []token, at int) bool {
	if at > 0 && all[at-1].kind == sign && (all[at-1].text == "," || all[at-1].text == "=") {
		return true
	}
	for _, t := range all[at+1:] {
		if t.kind != line {
			return t.kind == sign && (t.text == "{" || t.text == ".")
		}
	}
	return false
}

// each calls visit with every statement and the names of the enclosing braces: those of
// testOptions.managedDevices { devices { … } } are testOptions, managedDevices, devices.
func (b block) each(visit func(in []string, b block)) { b.eachIn(nil, visit) }

func (b block) eachIn(in []string, visit func([]string, block)) {
	for _, s := range b.body {
		visit(in, s)
		if s.open {
			s.eachIn(append(slices.Clone(in), s.names()...), visit)
		}
	}
}

// names returns the words that a statement begins with, between points: a.b.c { … }.
func (b block) names() (out []string) {
	for i := 0; i < len(b.head) && b.head[i].kind == word; i += 2 {
		out = append(out, b.head[i].text)
		if i+1 >= len(b.head) || b.head[i+1].text != "." || b.head[i+1].kind != sign {
			break
		}
	}
	return out
}

// called returns the name of what braces create: the text of create("x") { … }, register("x") { …
// }, getByName("x") { … }, maybeCreate<T>("x").apply { … }; the name of x { … } and of x(Type) { …
// }; of val x by creating { … } the variable's.
func (b block) called() string {
	for _, t := range b.head {
		if t.kind == text && !t.built {
			return t.text
		}
	}
	if len(b.head) > 1 && b.head[0].text == "val" {
		return b.head[1].text
	}
	if len(b.head) > 0 && b.head[0].kind == word {
		return b.head[0].text
	}
	return ""
}
