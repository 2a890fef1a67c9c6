package main

import (
	"os"
	"regexp"
	"testing"
)

func TestVersionIsThatOfTheChangelog(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## (\S+)$`).FindSubmatch(text)
	if newest == nil || string(newest[1]) != version {
		t.Errorf("the newest entry of CHANGELOG.md is %q, the program says %q", newest, version)
	}
}
