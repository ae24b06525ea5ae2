#!/usr/bin/env bash
# Versions: BoomFilters v0.0.0-20251001182300-5b3723cc64ae (github.com/tylertreat/BoomFilters, Go).
#
# Expected: however many keys are added to a ScalableBloomFilter, about the target of the absent keys pass, or fewer. Its documentation
# promises that for all parts together. `hint` sets how large the first part is.
#
# Actual: with a target of 1%, the rate is 3% to 4% after 100,000 keys with the default hint of 10,000, and more than half of all absent
# keys pass after 20,000 keys with a hint of 100. Three causes add up. The rates of the parts are the target times 1, 0.8, 0.64 and so on,
# and their sum is up to five times the target. Every part is made for `hint` keys, so their number grows with the number of keys. And each
# probe of a key in a part has its own s bits, but all probes are computed from two numbers below s. An absent key has the same two
# numbers as one of the stored keys with a probability of about hint / s / s, however many probes there are: 0.5% for each part if `hint` is
# 100 and s is 144.
#
#   hint 10000, 10000 keys: 0% to 1%
#   hint 10000, 100000 keys: 3% to 4%
#   hint 1000, 20000 keys: 4% to 6%
#   hint 100, 20000 keys: more than 50%
#   A BloomFilter for 20000 keys, 20000 keys: 0% to 2%
#
# Needs: Go.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat > main.go <<'GO'
package main

import (
	"encoding/binary"
	"fmt"
	"math/rand"

	boom "github.com/tylertreat/BoomFilters"
)

const lookups = 20000

// rate adds random keys, and returns the share in percent of other random keys that pass.
func rate(filter boom.Filter, keys int) float64 {
	random := rand.New(rand.NewSource(1))
	next := func() []byte {
		key := binary.LittleEndian.AppendUint64(nil, random.Uint64())
		return binary.LittleEndian.AppendUint64(key, random.Uint64())
	}
	for i := 0; i < keys; i++ {
		filter.Add(next())
	}
	passed := 0
	for i := 0; i < lookups; i++ {
		if filter.Test(next()) {
			passed++
		}
	}
	return 100 * float64(passed) / lookups
}

func show(name string, filter boom.Filter, keys int, low, high float64) {
	percent := rate(filter, keys)
	switch {
	case percent < low || percent > high:
		fmt.Printf("%s, %d keys: %g%%\n", name, keys, percent)
	case high == 100:
		fmt.Printf("%s, %d keys: more than %g%%\n", name, keys, low)
	default:
		fmt.Printf("%s, %d keys: %g%% to %g%%\n", name, keys, low, high)
	}
}

func main() {
	show("hint 10000", boom.NewDefaultScalableBloomFilter(0.01), 10000, 0, 1)
	show("hint 10000", boom.NewDefaultScalableBloomFilter(0.01), 100000, 3, 4)
	show("hint 1000", boom.NewScalableBloomFilter(1000, 0.01, 0.8), 20000, 4, 6)
	show("hint 100", boom.NewScalableBloomFilter(100, 0.01, 0.8), 20000, 50, 100)
	show("A BloomFilter for 20000 keys", boom.NewBloomFilter(20000, 0.01), 20000, 0, 2)
}
GO
cat > go.mod <<'MOD'
module finding

go 1.21

require github.com/tylertreat/BoomFilters v0.0.0-20251001182300-5b3723cc64ae
MOD
go mod tidy 2> log || { cat log; exit 1; }

go run . | tee seen
diff - seen <<'EXPECTED'
hint 10000, 10000 keys: 0% to 1%
hint 10000, 100000 keys: 3% to 4%
hint 1000, 20000 keys: 4% to 6%
hint 100, 20000 keys: more than 50%
A BloomFilter for 20000 keys, 20000 keys: 0% to 2%
EXPECTED
