package data

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// Invented records in the form of the files.
const (
	poorLine    = "17, State-gov, 750000, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 0, 2500, 50, United-States, <=50K"
	richLine    = "90, Private, 0, Preschool, 1, Divorced, Armed-Forces, Wife, Black, Female, 99999, 0, 99, Holand-Netherlands, >50K"
	missingLine = "30, ?, 10, HS-grad, 9, Divorced, ?, Wife, Black, Female, 0, 0, 40, United-States, >50K"
)

// Where the features of a column begin; the numbers of categories are those of the codebook adult.names.
func adultOffset(column string) int {
	at := 0
	for _, c := range adultColumns {
		if c.name == column {
			return at
		}
		at += max(1, len(c.categories))
	}
	return at
}

func TestAdultHas104Features(t *testing.T) {
	if got := adultOffset("the end"); got != AdultFeatures {
		t.Errorf("the columns make %d features, want %d", got, AdultFeatures)
	}
}

func TestAdultRecordsAreScaledAndOneHot(t *testing.T) {
	file := "|1x3 Cross validator\n" + poorLine + ".\n" + missingLine + ".\r\n\n" + richLine + ".\n\n"
	set, err := ReadAdult("adult", iotest.OneByteReader(strings.NewReader(file)))
	if err != nil {
		t.Fatal(err)
	}
	if set.Len() != 2 || !slices.Equal(set.Labels, []uint8{0, 1}) || set.Dim() != 104 || len(set.Features) != 208 || set.Classes != 2 {
		t.Fatalf("%d records with labels %v, %d features", set.Len(), set.Labels, len(set.Features))
	}
	want := func(record int, column string, offset int, value float32) {
		t.Helper()
		features, _ := set.Record(record)
		if got := features[adultOffset(column)+offset]; got != value {
			t.Errorf("record %d, %s+%d is %g, want %g", record, column, offset, got, value)
		}
	}
	want(0, "age", 0, 0)
	want(0, "workclass", 5, 1)
	want(0, "fnlwgt", 0, 0.5)
	want(0, "education", 0, 1)
	want(0, "education-num", 0, 0.8)
	want(0, "capital-gain", 0, 0)
	want(0, "capital-loss", 0, 0.5)
	want(0, "hours-per-week", 0, 0.5)
	want(0, "native-country", 0, 1)
	want(1, "age", 0, 1)
	want(1, "workclass", 0, 1)
	want(1, "education", 15, 1)
	want(1, "capital-gain", 0, 1)
	want(1, "native-country", 40, 1)
	for i := range 2 {
		features, _ := set.Record(i)
		for _, column := range adultColumns {
			from, sum := adultOffset(column.name), float32(0)
			for _, v := range features[from : from+len(column.categories)] {
				sum += v
			}
			if column.categories != nil && sum != 1 {
				t.Errorf("record %d: %s has %g ones", i, column.name, sum)
			}
		}
	}
}

func TestAdultNumbersBeyondTheirBoundsArePutOnThem(t *testing.T) {
	line := strings.Replace(strings.Replace(poorLine, "750000", "4000000000", 1), "17,", "3,", 1)
	set, err := ReadAdult("adult", strings.NewReader(line))
	if err != nil {
		t.Fatal(err)
	}
	if age, weight := set.Features[0], set.Features[adultOffset("fnlwgt")]; age != 0 || weight != 1 {
		t.Errorf("age %g and weight %g, want 0 and 1", age, weight)
	}
}

func TestReadAdultRefuses(t *testing.T) {
	broken := errors.New("cable pulled")
	if _, err := ReadAdult("adult", iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	for name, test := range map[string]struct{ file, want string }{
		"an empty file":                  {"", "holds no complete record"},
		"nothing but incomplete records": {missingLine, "holds no complete record"},
		"a line with a column too few":   {poorLine + "\n1, 2, 3", "line 2 has 3 columns, want 15"},
		"a number that is none":          {strings.Replace(poorLine, "17,", "old,", 1), `line 1, column age: "old" is no whole number`},
		"a negative number":              {strings.Replace(poorLine, "2500", "-5", 1), `column capital-loss: "-5"`},
		"a category of no codebook":      {strings.Replace(poorLine, "State-gov", "Pirate", 1), `column workclass: "Pirate" is none of: Private`},
		"a label of no class":            {strings.Replace(poorLine, "<=50K", "50K", 1), `line 1: label "50K", want <=50K or >50K`},
		"a line without end":             {strings.Repeat("x", 70_000), "line 1 is longer than 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := ReadAdult("adult", strings.NewReader(test.file))
			if err == nil || !strings.Contains(err.Error(), test.want) || set != nil {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func FuzzReadAdult(f *testing.F) {
	f.Add(poorLine + "\n" + richLine + ".\n|comment\n" + missingLine)
	f.Add(strings.Replace(poorLine, "17", "184467440737095516150", 1))
	f.Add(",,,,,,,,,,,,,,")
	f.Fuzz(func(t *testing.T, file string) {
		set, err := ReadAdult("adult", strings.NewReader(file))
		if err != nil {
			return
		}
		if len(set.Features) != AdultFeatures*set.Len() || set.Len() == 0 {
			t.Fatalf("%d records with %d features", set.Len(), len(set.Features))
		}
		for i, v := range set.Features {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("feature %d is %g", i, v)
			}
		}
	})
}
