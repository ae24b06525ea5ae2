#!/bin/bash
#SBATCH --requeue
# Merges the range of this task into parts, and leaves their descriptions when all are there.
set -euo pipefail
range=$SLURM_ARRAY_TASK_ID
cuts=$(wc -l < "$WORK/cuts")
temporary=$(mktemp "$WORK/descriptions.XXXXXX")
# Small inputs have fewer ranges than were asked for.
if ((range <= cuts)); then
  bounds=()
  ((range == 0)) || bounds+=(--gte "$(sed -n "${range}p" "$WORK/cuts")")
  ((range == cuts)) || bounds+=(--lt "$(sed -n "$((range + 1))p" "$WORK/cuts")")
  # shellcheck disable=SC2086 # several options
  bloom bulk part "$WORK"/run-*.ldb --no-internal --hex "${bounds[@]}" --sequence "$SEQUENCE" ${PART_OPTIONS:-} -q -o "$PARTS" > "$temporary"
fi
mv "$temporary" "$WORK/$(printf 'parts-%06d.jsonl' "$range")"
