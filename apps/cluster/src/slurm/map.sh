#!/bin/bash
#SBATCH --requeue
# Sorts the shard of this task into a run. The file gets its name when it is complete.
set -euo pipefail
shard=$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" "$SHARDS")
bloom build "$shard" --sort -f "${FORMAT:-tsv}" --no-filter -q -o "$WORK/$(printf 'run-%06d.ldb' "$SLURM_ARRAY_TASK_ID")"
