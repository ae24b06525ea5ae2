#!/bin/bash
#SBATCH --requeue
# Cuts the keys of all runs into ranges.
set -euo pipefail
temporary=$(mktemp "$WORK/cuts.XXXXXX")
bloom bulk split "$WORK"/run-*.ldb -n "$RANGES" --no-internal > "$temporary"
mv "$temporary" "$WORK/cuts"
