// Package vectors compares a program with recorded answers of Kubernetes.
//
//	func TestTolerates(t *testing.T) {
//		vectors.Run(t, "taintlab-vectors", "tolerates", func(c map[string]any) (any, error) {
//			return map[string]any{"tolerates": myTolerates(c["toleration"], c["taint"])}, nil
//		})
//	}
//
// index.json says which members of a case are the answer; the others are what the function gets. A
// member that is absent, null, empty or false counts as the same. Numbers are json.Number. No
// dependency but the standard library.
package vectors

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// Reporter is what Run needs of a testing.T.
type Reporter interface {
	Errorf(format string, arguments ...any)
	Logf(format string, arguments ...any)
}

// Family is a family of cases, as index.json describes it.
type Family struct {
	Family, Release, Upstream, Asks string
	Cases                           int
	Answer, Notes                   []string
	Uncertain, UncertainUnless      []string
	// Steps has lists of a case, with the members of their items that are the answer.
	Steps map[string][]string
}

// Families returns those of a folder, by name.
func Families(folder string) (map[string]Family, error) {
	text, err := os.ReadFile(filepath.Join(folder, "index.json"))
	if err != nil {
		return nil, err
	}
	var index struct{ Families []Family }
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, err
	}
	families := map[string]Family{}
	for _, family := range index.Families {
		families[family.Family] = family
	}
	return families, nil
}

// Run asks answer every case of a family, and reports the first differences and a summary. A case in
// which Kubernetes itself does not always say the same may differ.
func Run(t Reporter, folder, name string, answer func(map[string]any) (any, error)) {
	families, err := Families(folder)
	if err != nil {
		t.Errorf("%v", err)
		return
	}
	family, found := families[name]
	if !found {
		t.Errorf("there is no family %s in %s", name, folder)
		return
	}
	file, err := os.Open(filepath.Join(folder, name+".jsonl.gz"))
	if err != nil {
		t.Errorf("%v", err)
		return
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Errorf("%v", err)
		return
	}
	cases := json.NewDecoder(bufio.NewReader(unpacked))
	cases.UseNumber()
	agreed, differed, uncertain := 0, 0, 0
	for number := 1; cases.More(); number++ {
		var input map[string]any
		if err := cases.Decode(&input); err != nil {
			t.Errorf("%s, case %d: %v", name, number, err)
			return
		}
		expected := map[string]any{}
		for _, key := range family.Answer {
			if value, found := input[key]; found {
				expected[key] = value
				delete(input, key)
			}
		}
		for key, members := range family.Steps {
			steps, _ := input[key].([]any)
			seen := []any{}
			for _, step := range steps {
				step, _ := step.(map[string]any)
				found := map[string]any{}
				for _, member := range members {
					if value, has := step[member]; has {
						found[member] = value
						delete(step, member)
					}
				}
				seen = append(seen, found)
			}
			expected[key] = seen
		}
		got, err := answer(input)
		switch {
		case err == nil && got != nil && same(plain(got), plain(expected)):
			agreed++
		case mayDiffer(family, input):
			uncertain++
		default:
			differed++
			if err != nil {
				got = err.Error()
			}
			if differed <= 3 {
				t.Errorf("%s, case %d: %s\n  expected %s\n  got      %s",
					name, number, text(input), text(expected), text(got))
			}
		}
	}
	more := ""
	if uncertain > 0 {
		more = fmt.Sprintf(", %d uncertain differ", uncertain)
	}
	report := t.Logf
	if differed > 0 || agreed == 0 {
		report = t.Errorf
	}
	report("%s: %d of %d agree%s", name, agreed, agreed+differed, more)
}

func mayDiffer(family Family, input map[string]any) bool {
	for _, key := range family.Uncertain {
		if !empty(input[key]) {
			return true
		}
	}
	for _, key := range family.UncertainUnless {
		if empty(input[key]) {
			return true
		}
	}
	return false
}

func text(value any) string {
	bytes, _ := json.Marshal(value)
	return string(bytes)
}

// empty tells whether a plain value counts as absent.
func empty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case bool:
		return !value
	case string:
		return value == ""
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	}
	return false
}

// plain returns a value, as it is in JSON, without members that are absent, null, empty or false.
func plain(value any) any {
	switch value := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key, member := range value {
			if member := plain(member); !empty(member) {
				kept[key] = member
			}
		}
		return kept
	case []any:
		items := []any{}
		for _, item := range value {
			items = append(items, plain(item))
		}
		return items
	case nil, bool, string, json.Number:
		return value
	}
	var known any
	decoder := json.NewDecoder(strings.NewReader(text(value)))
	decoder.UseNumber()
	if err := decoder.Decode(&known); err != nil {
		return err.Error()
	}
	return plain(known)
}

// same tells whether two plain values are the same; numbers with a fraction may differ in the last
// digits.
func same(one, other any) bool {
	switch one := one.(type) {
	case json.Number:
		other, is := other.(json.Number)
		if !is || one == other {
			return is
		}
		_, whole := one.Int64()
		_, otherWhole := other.Int64()
		a, _ := one.Float64()
		b, _ := other.Float64()
		exact := whole == nil && otherWhole == nil
		return !exact && math.Abs(a-b) <= 1e-6*math.Max(math.Abs(a), math.Abs(b))
	case map[string]any:
		other, is := other.(map[string]any)
		if !is || len(one) != len(other) {
			return false
		}
		for key, value := range one {
			if found, has := other[key]; !has || !same(value, found) {
				return false
			}
		}
		return true
	case []any:
		other, is := other.([]any)
		if !is || len(one) != len(other) {
			return false
		}
		for index := range one {
			if !same(one[index], other[index]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(one, other)
}
