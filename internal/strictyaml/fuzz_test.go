package strictyaml

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// FuzzDecode holds the promises on any text: no panic; what is refused is refused with a place and a rule; what is
// accepted can be written and read back to the same value.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), "rounds=3")
	}
	f.Add(example, "privacy.mechanism={kind: gaussian, clip: 1e-3}")
	f.Add(smallest, `notes="a\x41\u00e9\U0001f389\n\0\e\_\N\P"`)
	f.Add("name: |+\n  a\n\n   b\n", "a.b.c.d=[{x: y}, 'it''s']")
	f.Fuzz(func(t *testing.T, text, flag string) {
		decodeAndBack(t, text, flag, &experiment{}, &experiment{})
		decodeAndBack(t, text, flag, &anything{}, &anything{})
	})
}

func decodeAndBack(t *testing.T, text, flag string, first, second any) {
	_, err := Decode("f", []byte(text), []string{flag}, first)
	if err != nil {
		var list Errors
		if !errors.As(err, &list) || len(list) == 0 || err.Error() == "" {
			t.Fatalf("refused without a reason: %v", err)
		}
		for _, e := range list {
			if e.Rule == "" || e.Line < 0 || e.Line > strings.Count(text, "\n")+1 {
				t.Fatalf("refused with an odd place: %+v", e)
			}
		}
		return
	}
	encoded, err := Encode(first)
	if err != nil {
		t.Fatalf("decoded, but cannot be written: %v", err)
	}
	if _, err := Decode("encoded", encoded, nil, second); err != nil {
		t.Fatalf("written, but cannot be read:\n%s\n%v", encoded, err)
	}
	if !reflect.DeepEqual(first, second) {
		t.Fatalf("%s\nread back as %+v\nnot as %+v", encoded, second, first)
	}
}
