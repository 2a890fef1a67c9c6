package data

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// AdultFeatures is the number of features of an Adult record: 6 numbers, and 98 categories one-hot.
const AdultFeatures = 104

// adultColumn is a column of the Adult files. It has categories, or it is a number between two bounds.
type adultColumn struct {
	name       string
	low, high  float64
	categories []string
}

// adultColumns is the codebook adult.names. It gives the categories but no ranges of numbers, so the bounds are ours: constants, the same
// whatever records are read, and what lies beyond is put on them. A bound computed from the records would tell of whoever sets it.
//
// They were not all chosen blindly. The codebook gives the lower bounds of age and hours-per-week (the extract keeps AAGE>16 and
// HRSWK>0) and the sixteen levels of education-num. The other upper bounds were chosen by people who knew the published set: 90, 99,999
// and 99 are its largest age, capital-gain and hours-per-week, 1,500,000 and 5,000 are round figures above its largest fnlwgt
// (1,490,400) and capital-loss (4,356). The set has been public since 1996; for records that are not, choose bounds without them.
//
// Never-worked is left out of workclass: who never worked has no occupation, so such a record is incomplete and is dropped.
var adultColumns = []adultColumn{
	{name: "age", low: 17, high: 90},
	{name: "workclass", categories: strings.Fields(`Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay`)},
	{name: "fnlwgt", low: 0, high: 1_500_000},
	{name: "education", categories: strings.Fields(`Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th
		12th Masters 1st-4th 10th Doctorate 5th-6th Preschool`)},
	{name: "education-num", low: 1, high: 16},
	{name: "marital-status", categories: strings.Fields(`Married-civ-spouse Divorced Never-married Separated Widowed
		Married-spouse-absent Married-AF-spouse`)},
	{name: "occupation", categories: strings.Fields(`Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty
		Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv Armed-Forces`)},
	{name: "relationship", categories: strings.Fields(`Wife Own-child Husband Not-in-family Other-relative Unmarried`)},
	{name: "race", categories: strings.Fields(`White Asian-Pac-Islander Amer-Indian-Eskimo Other Black`)},
	{name: "sex", categories: strings.Fields(`Female Male`)},
	{name: "capital-gain", low: 0, high: 99_999},
	{name: "capital-loss", low: 0, high: 5_000},
	{name: "hours-per-week", low: 1, high: 99},
	{name: "native-country", categories: strings.Fields(`United-States Cambodia England Puerto-Rico Canada Germany
		Outlying-US(Guam-USVI-etc) India Japan Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico
		Portugal Ireland France Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand
		Yugoslavia El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands`)},
}

// The published files have 32,561 and 16,281 records.
const maxAdultRecords = 1 << 20

// ReadAdult reads adult.data or adult.test, the extract of the 1994 census that asks who earns more than 50,000 dollars a year (label
// 1). Records with a missing value ("?") are dropped, as is usual. Numbers are scaled by fixed public bounds, categories one-hot
// in the order of the codebook. Comment lines and the full stops behind the labels of adult.test are allowed for.
func ReadAdult(name string, r io.Reader) (*Set, error) {
	set := &Set{Name: name, Shape: []int{AdultFeatures}, Classes: 2}
	lines := bufio.NewScanner(r) // a line is at most 64 KiB
	number := 0
	for lines.Scan() {
		number++
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "|") {
			continue
		}
		fields := strings.Split(line, ",")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if len(fields) != len(adultColumns)+1 {
			return nil, fmt.Errorf("data: %s line %d has %d columns, want %d", name, number, len(fields), len(adultColumns)+1)
		}
		if slices.Contains(fields, "?") {
			continue
		}
		if set.Len() == maxAdultRecords {
			return nil, fmt.Errorf("data: %s has more than %d records", name, maxAdultRecords)
		}
		for i, column := range adultColumns {
			var err error
			if set.Features, err = column.appendTo(set.Features, fields[i]); err != nil {
				return nil, fmt.Errorf("data: %s line %d, column %s: %w", name, number, column.name, err)
			}
		}
		switch label := strings.TrimSuffix(fields[len(adultColumns)], "."); label {
		case "<=50K":
			set.Labels = append(set.Labels, 0)
		case ">50K":
			set.Labels = append(set.Labels, 1)
		default:
			return nil, fmt.Errorf("data: %s line %d: label %q, want <=50K or >50K", name, number, label)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("data: %s line %d is longer than %d bytes: this is no Adult file", name, number+1, bufio.MaxScanTokenSize)
	} else if err != nil {
		return nil, fmt.Errorf("data: %s: %w", name, err)
	}
	if set.Len() == 0 {
		return nil, fmt.Errorf("data: %s holds no complete record", name)
	}
	return set, nil
}

// appendTo appends the features of one value.
func (c adultColumn) appendTo(features []float32, value string) ([]float32, error) {
	if c.categories == nil {
		x, err := strconv.ParseUint(value, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%q is no whole number", value)
		}
		return append(features, toUnitRange(float64(x), c.low, c.high)), nil
	}
	at := slices.Index(c.categories, value)
	if at < 0 {
		return nil, fmt.Errorf("%q is none of: %s", value, strings.Join(c.categories, ", "))
	}
	from := len(features)
	features = append(features, make([]float32, len(c.categories))...)
	features[from+at] = 1
	return features, nil
}

// toUnitRange maps [low, high] to [0, 1] and puts what lies beyond on the nearer end.
func toUnitRange(x, low, high float64) float32 {
	return float32(min(max((x-low)/(high-low), 0), 1))
}
