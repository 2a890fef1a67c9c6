// Package reproduce runs the experiments of the papers and puts their numbers beside ours.
//
// A [Paper] is a list of its figures and tables. Each runs experiment files (package experiments) through the same code as hubbub
// run, keeps every run by the hash of its configuration, and ends in an [Outcome]: tables with the paper's value, ours, the difference and
// the reason where one is known; pictures; and checks, which fail when an order or a distance that we state does not hold.
package reproduce

import (
	"fmt"
	"strings"
	"time"
)

// Scale is how much of a paper's setting is run.
type Scale string

// The scales.
const (
	Fast Scale = "fast" // minutes: fewer clients, rounds or seeds, said in the tables
	Full Scale = "full" // the paper's setting
)

// Paper is one of the five, or the comparison of all their mechanisms.
type Paper struct {
	ID    string // 000 to 004, compare
	Title string
	Items []Item
	Page  string // name of the report's files; left out: results
	Intro string // of a report that is read by itself, without a paper in hand; left out: none
}

// Item is a figure or a table of a paper.
type Item struct {
	Name  string // figure 1, table 2
	About string // one line
	Make  func(*Bench) (Outcome, error)
	Full  time.Duration // about how long the paper's setting takes on two cores, for those who must decide to wait
}

// File is the item's name in a file name: figure-1.
func (i Item) File() string { return strings.ReplaceAll(i.Name, " ", "-") }

// Find returns the paper of that number.
func Find(id string) (Paper, error) {
	var known []string
	for _, p := range Papers() {
		if p.ID == id {
			return p, nil
		}
		known = append(known, p.ID)
	}
	return Paper{}, fmt.Errorf("there is no paper %q here: choose one of %s", id, strings.Join(known, ", "))
}

// Select returns the items of that name, or all if it is empty.
func (p Paper) Select(name string) ([]Item, error) {
	if name == "" {
		return p.Items, nil
	}
	var known []string
	for _, i := range p.Items {
		if i.Name == name {
			return []Item{i}, nil
		}
		known = append(known, i.Name)
	}
	return nil, fmt.Errorf("paper %s has no %s here: there are %s", p.ID, name, strings.Join(known, ", "))
}
