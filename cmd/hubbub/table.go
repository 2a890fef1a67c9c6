package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"hubbub/accountant"
	"hubbub/internal/experiment"
	"hubbub/statement"
)

// who says an adversary in words.
var who = map[statement.Adversary]string{
	statement.Server:  "against the server",
	statement.Clients: "against other clients",
	statement.Public:  "against those who see models",
}

func printResult(out io.Writer, f *experiment.Federation, r experiment.Result, folder experiment.Folder) {
	fmt.Fprintln(out)
	line(out, "accuracy", "%.2f%% of %s public test records, after %d rounds", 100*r.Accuracy, thousands(int64(f.Test.Len())), r.Rounds)
	printStatement(out, r.Statement, f.Facts.Unit)
	line(out, "bytes per client and round", "%s up, %s down", thousands(r.BytesUp), thousands(r.BytesDown))
	line(out, "time", "%s", short(time.Duration(r.Seconds*float64(time.Second))))
	line(out, "report", "%s", filepath.Join(folder.Path, "report.html"))
}

// printStatement prints a line for each adversary, for one unit.
func printStatement(out io.Writer, rows []statement.Row, unit accountant.Unit) {
	for _, row := range rows {
		if row.Unit == unit {
			line(out, who[row.Adversary], "%s", inWords(row))
		}
	}
	for _, row := range rows {
		if row.Unit == unit && row.ClaimedByPaper != "" { // one claim is about all adversaries
			line(out, "claimed by the paper", "%s", row.ClaimedByPaper)
			return
		}
	}
}

// inWords says a row in one line. Epsilon is rounded up.
func inWords(row statement.Row) string {
	if row.Epsilon == nil {
		return "no guarantee: " + row.Why
	}
	words := fmt.Sprintf("epsilon %s at delta %.3g, for one %s", upward(*row.Epsilon), row.Delta, row.Unit)
	if caveat := row.Caveat(); caveat != "" {
		words += ", " + caveat
	}
	return words
}

// upward writes an epsilon with two digits behind the point, never smaller than it is.
func upward(epsilon float64) string { return fmt.Sprintf("%.2f", math.Ceil(epsilon*100)/100) }

func line(out io.Writer, name, format string, args ...any) {
	fmt.Fprintf(out, "%-28s  %s\n", name, fmt.Sprintf(format, args...))
}

// thousands groups digits: 254,440.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > strings.LastIndex(s, "-")+1; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
