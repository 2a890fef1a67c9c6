package strictyaml

import (
	"strings"
)

// override changes the tree as the flags "a.b=c" say, in their order.
func override(src *source, tree *node) Errors {
	var errs Errors
	for i, flag := range src.overrides {
		at := place{line: 1, column: 1, override: i + 1}
		refuse := func(path, value, rule, guess string) {
			errs = append(errs, src.refuse(at, path, value, rule, guess))
		}
		path, text, ok := strings.Cut(flag, "=")
		if !ok {
			refuse("", "", "has no =", "write --set path.to.key=value")
			continue
		}
		keys := strings.Split(path, ".")
		if strings.Contains("."+path+".", "..") {
			refuse("", "", "the path has an empty key", "write --set path.to.key=value")
			continue
		}
		if len(keys) > maxDepth {
			refuse("", "", "the path is too long", "")
			continue
		}
		value, problems := parse(src, text, at)
		if len(problems) > 0 {
			for _, p := range problems {
				p.Path = path
			}
			errs = append(errs, problems...)
			continue
		}
		if value.form == null && strings.TrimSpace(text) != "null" {
			refuse("", "", "has no value after =", "write =null to remove the key")
			continue
		}
		if through, blocked := tree.set(keys, value, at); blocked != nil {
			refuse("", through+" ("+blocked.describe()+")", "has no keys below it", "set "+through+" as a whole")
		}
	}
	return errs
}

// set puts value at the path below a mapping, making the mappings on the way; null removes the key. When something on
// the way is not a mapping, it returns that and its path.
func (n *node) set(keys []string, value *node, at place) (through string, blocked *node) {
	for i, key := range keys {
		if n.form != mapping {
			return strings.Join(keys[:i], "."), n
		}
		e, last := n.find(key), i == len(keys)-1
		if last && value.form == null {
			n.remove(key)
			return "", nil
		}
		if e == nil {
			n.entries = append(n.entries, entry{key: key, at: at, value: &node{form: mapping, at: at}})
			e = &n.entries[len(n.entries)-1]
		} else if e.value.form == null && !last {
			e.value = &node{form: mapping, at: at}
		}
		if last {
			e.value, e.at = value, at
		}
		n = e.value
	}
	return "", nil
}

func (n *node) remove(key string) {
	kept := n.entries[:0]
	for _, e := range n.entries {
		if e.key != key {
			kept = append(kept, e)
		}
	}
	n.entries = kept
}
