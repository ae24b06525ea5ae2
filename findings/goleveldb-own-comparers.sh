#!/usr/bin/env bash
# Versions: goleveldb v1.0.1-0.20210819022825-2ae1ddf74ef7 and v1.0.1-0.20220721030215-126854af5e6d, compared with v1.0.0.
#
# Expected: a database with a custom Comparer returns the last value of every key, whatever the order is. v1.0.0 does so.
#
# Actual: with a Comparer for the reverse of bytewise order, the two later versions soon return overwritten values, or none, without an
# error, and after some more writes each Put fails. They search the tables of a compaction with the Comparer, but compare the ends of
# its range with bytes.Compare, so they leave out tables that overlap. The output of the compaction then overlaps with tables of its
# level, where a lookup searches only one. With the default Comparer, all values are right.
#
#   v1.0.0, reverse order: every Put succeeds, every Get is right
#   v1.0.0, default order: every Put succeeds, every Get is right
#   v1.0.1-0.20210819022825-2ae1ddf74ef7, reverse order: Put fails: leveldb/table: Writer: keys are not in increasing order, some Gets are wrong
#   v1.0.1-0.20210819022825-2ae1ddf74ef7, default order: every Put succeeds, every Get is right
#   v1.0.1-0.20220721030215-126854af5e6d, reverse order: Put fails: leveldb/table: Writer: keys are not in increasing order, some Gets are wrong
#   v1.0.1-0.20220721030215-126854af5e6d, default order: every Put succeeds, every Get is right
#
# Needs: Go.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat > main.go <<'GO'
// Puts ranges of keys, one after another, into a database with small tables, then compares each Get with the last value that was put.
package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

type reverse struct{}

func (reverse) Compare(a, b []byte) int           { return bytes.Compare(b, a) }
func (reverse) Name() string                      { return "finding.reverse" }
func (reverse) Separator(dst, a, b []byte) []byte { return nil }
func (reverse) Successor(dst, b []byte) []byte    { return nil }

func main() {
	options := &opt.Options{WriteBuffer: 1 << 16, CompactionTableSize: 20_000}
	if os.Args[1] == "reverse" {
		options.Comparer = reverse{}
	}
	db, err := leveldb.OpenFile(os.Args[1], options)
	if err != nil {
		panic(err)
	}
	last := make([]string, 600)
	err = nil
	for round := 0; round < 60 && err == nil; round++ {
		// Ranges of 150 keys, so that tables overlap with a part of the deeper levels.
		start := round * 217 % 451
		for k := start; k < start+150 && err == nil; k++ {
			value := fmt.Sprint(round, strings.Repeat("v", 400))
			if err = db.Put([]byte(fmt.Sprintf("key%03d", k)), []byte(value), nil); err == nil {
				last[k] = value
			}
		}
	}
	right, stored := 0, 0
	for k, want := range last {
		if want == "" {
			continue
		}
		stored++
		if value, err := db.Get([]byte(fmt.Sprintf("key%03d", k)), nil); err == nil && string(value) == want {
			right++
		}
	}
	problem := "every Put succeeds"
	if err != nil {
		problem = "Put fails: " + strings.Split(err.Error(), ": \"")[0]
	}
	if right == stored {
		fmt.Printf("%s, every Get is right\n", problem)
	} else {
		fmt.Printf("%s, some Gets are wrong\n", problem)
	}
	db.Close()
}
GO
go mod init finding 2> go.log
for version in v1.0.0 v1.0.1-0.20210819022825-2ae1ddf74ef7 v1.0.1-0.20220721030215-126854af5e6d; do
  { go get "github.com/syndtr/goleveldb/leveldb@$version" && go mod tidy && go build -o finding .; } 2> go.log || { cat go.log >&2; exit 1; }
  for order in reverse default; do
    rm -rf "$order"
    echo "$version, $order order: $(timeout 120 ./finding "$order")"
  done
done | tee seen
diff - seen <<'EXPECTED'
v1.0.0, reverse order: every Put succeeds, every Get is right
v1.0.0, default order: every Put succeeds, every Get is right
v1.0.1-0.20210819022825-2ae1ddf74ef7, reverse order: Put fails: leveldb/table: Writer: keys are not in increasing order, some Gets are wrong
v1.0.1-0.20210819022825-2ae1ddf74ef7, default order: every Put succeeds, every Get is right
v1.0.1-0.20220721030215-126854af5e6d, reverse order: Put fails: leveldb/table: Writer: keys are not in increasing order, some Gets are wrong
v1.0.1-0.20220721030215-126854af5e6d, default order: every Put succeeds, every Get is right
EXPECTED
