package main

import (
	"fmt"
	"image/png"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"hubbub/internal/data"
	"hubbub/internal/experiment"
	"hubbub/internal/fetch"
	"hubbub/internal/own"
)

func (a *app) dataCommand() *cobra.Command {
	c := &cobra.Command{Use: "data", Short: "List, fetch or show data sets"}
	c.AddCommand(a.dataList(), a.dataFetch(), a.dataShow())
	return c
}

func (a *app) dataList() *cobra.Command {
	type entry struct {
		Name    string `json:"name"`
		About   string `json:"about"`
		Train   int    `json:"train"`
		Test    int    `json:"test"`
		Shape   []int  `json:"shape"`
		Classes int    `json:"classes"`
		Licence string `json:"licence"`
		Cite    string `json:"cite"`
		Fetched bool   `json:"fetched"`
	}
	return &cobra.Command{
		Use: "list", Short: "List the data sets that can be fetched", Args: cobra.NoArgs, Annotations: hasJSON,
		RunE: func(*cobra.Command, []string) error {
			dir, err := fetch.Dir()
			if err != nil {
				return experiment.Input(err)
			}
			var entries []entry
			for _, d := range fetch.List() {
				entries = append(entries, entry{d.Name, d.About, d.Train, d.Test, d.Shape, d.Classes, d.Licence, d.Cite, d.Fetched(dir)})
			}
			return a.print(entries, func() {
				w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "NAME\tRECORDS\tCLASSES\tLICENCE\tFETCHED\tWHAT")
				for _, e := range entries {
					fetched := "no"
					if e.Fetched {
						fetched = "yes"
					}
					fmt.Fprintf(w, "%s\t%s + %s\t%d\t%s\t%s\t%s\n", e.Name, thousands(int64(e.Train)), thousands(int64(e.Test)), e.Classes, e.Licence, fetched, e.About)
				}
				w.Flush()
				a.printf("\nThey are kept in %s (HUBBUB_DATA changes it). For files of your own see: hubbub data show --help\n", dir)
			})
		},
	}
}

func (a *app) dataFetch() *cobra.Command {
	var from string
	c := &cobra.Command{
		Use: "fetch NAME", Short: "Get a data set and check it",
		Long: `Get a data set and check the sha256 of every file. What is there and right is kept.

Without a network: get the files elsewhere and name their folder, or the archive they came in, with --from.`,
		Example: `  hubbub data fetch mnist
  hubbub data fetch adult --from Downloads/adult.zip`,
		Args: cobra.ExactArgs(1), Annotations: hasJSON,
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := fetch.Dir()
			if err != nil {
				return experiment.Input(err)
			}
			var paths []string
			log := func(s string) { fmt.Fprintln(a.errs, s) }
			if from == "" {
				paths, err = fetch.Get(c.Context(), args[0], dir, log)
			} else {
				paths, err = fetch.GetFrom(c.Context(), args[0], from, dir, log)
			}
			if err != nil {
				return experiment.Input(err)
			}
			return a.print(paths, func() {
				for _, p := range paths {
					a.printf("%s\n", p)
				}
			})
		},
	}
	c.Flags().StringVar(&from, "from", "", "folder or archive that holds the files, instead of the network")
	return c
}

// shown is what data show says of a data set, and of the clients if an experiment file deals it out.
type shown struct {
	Name    string  `json:"name"`
	Train   int     `json:"train"`
	Test    int     `json:"test"`
	Shape   []int   `json:"shape"`
	Labels  []int   `json:"labels"`            // training records of each label
	Clients [][]int `json:"clients,omitempty"` // the same for each client
	Sheet   string  `json:"sheet,omitempty"`
}

func (a *app) dataShow() *cobra.Command {
	var sets []string
	var sheet string
	var rows int
	var o own.Options
	c := &cobra.Command{
		Use:   "show NAME|FOLDER|FILE",
		Short: "Show counts, labels and pictures of a data set, of your own files, or who holds what in an experiment",
		Long: `Show counts, labels and pictures of a data set, of your own files, or who holds what in an experiment (FILE.yaml).

Your own files are a folder with a training and a test set in one of these forms:
  train.csv, test.csv              a line of column names, then numbers; the last column is the label, or --label
  train.parquet, test.parquet      columns of numbers
  x_train.npy, y_train.npy, x_test.npy, y_test.npy
  any.npz                          with arrays of these names
  train-images-idx3-ubyte, train-labels-idx1-ubyte, and the same of test
or one .csv, .parquet or .npz file, of which --test-fraction is held back. Values must lie in [0, 1], or in a range that you state:
--scale for all, or for each column a line column,low,high in ranges.csv. Take ranges from what is possible, not from the data: the
largest income there is would tell of whoever has it.

In an experiment file: data: {name: own, from: FOLDER, label: ..., scale: [0, 100], test_fraction: 0.1, ...}.`,
		Example: `  hubbub data show mnist --sheet mnist.png
  hubbub data show experiment.yaml
  hubbub data show patients/ --label outcome
  hubbub data show patients.csv --scale 0,200 --test-fraction 0.1`,
		Args: cobra.ExactArgs(1), Annotations: hasJSON,
		RunE: func(_ *cobra.Command, args []string) error {
			s, train, err := look(args[0], sets, o)
			if err != nil {
				return err
			}
			if sheet != "" {
				if err := writeSheet(sheet, train); err != nil {
					return err
				}
				s.Sheet = sheet
			}
			return a.print(s, func() { a.printShown(s, rows) })
		},
	}
	c.Flags().StringArrayVar(&sets, "set", nil, "change a value of the file: a.b=c (may be repeated)")
	c.Flags().StringVar(&sheet, "sheet", "", "write a contact sheet of the pictures to this PNG file")
	c.Flags().IntVar(&rows, "clients", 20, "how many clients are listed")
	c.Flags().StringVar(&o.Label, "label", "", "own files: column of the labels (default the last)")
	c.Flags().IntVar(&o.Classes, "classes", 0, "own files: number of classes (default the largest label + 1)")
	c.Flags().Float64SliceVar(&o.Scale, "scale", nil, "own files: low,high become 0 and 1")
	c.Flags().IntSliceVar(&o.Shape, "shape", nil, "own files: features, or channels,height,width, of one record (default as stored)")
	c.Flags().Float64Var(&o.TestFraction, "test-fraction", 0, "own files without a test set: hold back so much of the records")
	return c
}

// look reads what is named: an experiment, a data set that is known, or files of the user's own.
func look(what string, sets []string, o own.Options) (shown, *data.Set, error) {
	var parts data.Partition
	var train, test *data.Set
	_, unknown := fetch.Find(what)
	_, missing := os.Stat(what)
	switch {
	case strings.HasSuffix(what, ".yaml") || strings.HasSuffix(what, ".yml"):
		f, err := prepare(what, sets)
		if err != nil {
			return shown{}, nil, err
		}
		parts, train, test = f.Parts, f.Train, f.Test
	case unknown == nil:
		dir, err := fetch.Dir()
		if err == nil {
			train, test, err = fetch.Load(what, dir)
		}
		if err != nil {
			return shown{}, nil, experiment.Input(err)
		}
	case missing != nil:
		return shown{}, nil, experiment.Input(fmt.Errorf("%w; nor is there a folder or file of this name", unknown))
	default:
		var err error
		if train, test, err = experiment.LoadOwn(what, o); err != nil {
			return shown{}, nil, err
		}
		train.Name = what
	}
	s := shown{Name: train.Name, Train: train.Len(), Test: test.Len(), Shape: train.Shape, Labels: make([]int, train.Classes)}
	for _, label := range train.Labels {
		s.Labels[label]++
	}
	for _, records := range parts {
		s.Clients = append(s.Clients, train.Histogram(records))
	}
	return s, train, nil
}

func writeSheet(path string, set *data.Set) error {
	picture, err := data.ContactSheet(set, set.FirstOfEachClass(20))
	if err != nil {
		return experiment.Input(err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return experiment.Input(fmt.Errorf("contact sheet: %w", err))
	}
	err = png.Encode(file, picture)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(path) // nothing half-written
		return experiment.Input(fmt.Errorf("contact sheet: %w", err))
	}
	return nil
}

func (a *app) printShown(s shown, rows int) {
	a.printf("%s: %s training and %s test records of shape %v\n\n", s.Name, thousands(int64(s.Train)), thousands(int64(s.Test)), s.Shape)
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "label\t")
	for label := range s.Labels {
		fmt.Fprintf(w, "%d\t", label)
	}
	fmt.Fprintln(w, "all\t")
	histogramRow(w, "everyone", s.Labels)
	for c, counts := range s.Clients[:min(len(s.Clients), rows)] {
		histogramRow(w, fmt.Sprintf("client %d", c), counts)
	}
	w.Flush()
	if more := len(s.Clients) - rows; more > 0 {
		a.printf("and %s more clients\n", thousands(int64(more)))
	}
	if len(s.Clients) > 0 {
		sizes := make([]int, len(s.Clients))
		for c, counts := range s.Clients {
			for _, n := range counts {
				sizes[c] += n
			}
		}
		a.printf("\n%s clients, each with %d to %d records\n", thousands(int64(len(sizes))), slices.Min(sizes), slices.Max(sizes))
	}
	if s.Sheet != "" {
		a.printf("\ncontact sheet: %s\n", s.Sheet)
	}
}

func histogramRow(w *tabwriter.Writer, name string, counts []int) {
	total := 0
	fmt.Fprintf(w, "%s\t", name)
	for _, n := range counts {
		fmt.Fprintf(w, "%d\t", n)
		total += n
	}
	fmt.Fprintf(w, "%d\t\n", total)
}
