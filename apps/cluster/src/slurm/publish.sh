#!/bin/bash
#SBATCH --requeue
# Assembles the parts of all ranges, and publishes them.
set -euo pipefail
descriptions=()
for ((range = 0; range < RANGES; range++)); do descriptions+=("$WORK/$(printf 'parts-%06d.jsonl' "$range")"); done
temporary=$(mktemp "$WORK/assembly.XXXXXX")
bloom bulk assemble "$PARTS" "${descriptions[@]}" --previous "$STORE" > "$temporary"
mv "$temporary" "$WORK/assembly.json"
bloom bulk publish "$WORK/assembly.json" "$PARTS" "$STORE"
