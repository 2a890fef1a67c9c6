package main

import (
	"fmt"
	"slices"
	"testing"
)

// What is read as a list of numbers is one: written out, it is read as the same.
func FuzzNumbers(f *testing.F) {
	for _, seed := range []string{"", "0", "0-99,512", "7,7", "3-1", "-1", "1-", "a", "0-999999999999", "99999999999999999999", "1,,2", " 1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := numbers(text)
		if err != nil || len(list) > 10_000 {
			return
		}
		written := ""
		for i, n := range list {
			if n < 0 {
				t.Fatalf("%q: %d", text, n)
			}
			if i > 0 {
				written += ","
			}
			written += fmt.Sprint(n)
		}
		again, err := numbers(written)
		if err != nil || !slices.Equal(again, list) {
			t.Fatalf("%q: %v is read back as %v (error %v)", text, list, again, err)
		}
	})
}

func TestListsOfNumbers(t *testing.T) {
	if list, err := numbers("3-5,0"); err != nil || !slices.Equal(list, []int{3, 4, 5, 0}) {
		t.Errorf("%v, %v", list, err)
	}
	for _, text := range []string{"-1", "5-3", "1,", "x", "0-1000000"} {
		if _, err := numbers(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
