// Package experiments holds the files of the papers' experiments, each of which hubbub run takes as well.
package experiments

import "embed"

// Files are the experiments, one folder for each paper.
//
//go:embed */*.yaml
var Files embed.FS
