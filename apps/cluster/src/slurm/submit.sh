#!/bin/bash
# Submits a job that sorts, cuts, merges and publishes, and prints the number of its last step. It is told by variables:
#
#   SHARDS        a file with the paths of the files with entries, one a line; where files have the same key, the first counts
#   FORMAT        their format (tsv)
#   WORK          an empty folder of this job's own, which all nodes can write to
#   PARTS, STORE  where parts are written, and where the database is published: folders, or s3://BUCKET/PREFIX
#   SEQUENCE      the sequence of all entries, higher than all published ones
#   RANGES        into how many ranges the keys are cut
#   PART_OPTIONS  further options of bloom bulk part
set -euo pipefail
: "${SHARDS:?}" "${WORK:?}" "${PARTS:?}" "${STORE:?}" "${SEQUENCE:?}" "${RANGES:?}"
export SHARDS WORK PARTS STORE SEQUENCE RANGES
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
options=(--parsable --output="$WORK/%x-%A-%a.log" --open-mode=append --kill-on-invalid-dep=yes)
# grep also counts a last line without a newline, which wc does not.
map=$(sbatch "${options[@]}" --array="0-$(($(grep -c '' "$SHARDS") - 1))" "$here/map.sh")
split=$(sbatch "${options[@]}" --dependency="afterok:$map" "$here/split.sh")
reduce=$(sbatch "${options[@]}" --dependency="afterok:$split" --array="0-$((RANGES - 1))" "$here/reduce.sh")
sbatch "${options[@]}" --dependency="afterok:$reduce" "$here/publish.sh"
