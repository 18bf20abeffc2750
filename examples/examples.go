// Package examples holds the programs that the demo runs. Each also runs on its
// own: python3 pandas_csv.py < sales.csv
package examples

import "embed"

// Files are the programs and what they read from standard input.
//
//go:embed *.py *.csv
var Files embed.FS
