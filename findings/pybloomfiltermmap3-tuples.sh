#!/usr/bin/env bash
# Versions: pybloomfiltermmap3 0.6.3, a Bloom filter in a memory-mapped file; Python 3.
#
# Expected: a filter that is written to a file finds all added keys when another process opens the file. The filter stores the seeds of its
# hash functions in the file for this purpose.
#
# Actual: `add` accepts tuples, but a tuple that contains a string is found only by the process that added it. For a key that is not a
# string, bytes or an integer, the filter hashes the result of Python's hash(), which uses a different seed in each process for strings,
# even within a tuple. There is no error: the filter reports added keys as absent, which a Bloom filter must never do. Strings and
# bytes themselves, integers, and tuples of integers are found.
#
#   The process that wrote the file finds: ['text', b'bytes', 7, (1, 2), ('user', 1)]
#   Another process finds: ['text', b'bytes', 7, (1, 2)]
#   Two processes with one PYTHONHASHSEED find: ['text', b'bytes', 7, (1, 2), ('user', 1)]
#
# Needs: Python 3 with pip, and a C compiler where there is no wheel.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check pybloomfiltermmap3==0.6.3

cat > write.py <<'PY'
import sys
from pybloomfilter import BloomFilter

keys = ["text", b"bytes", 7, (1, 2), ("user", 1)]
# With this error rate, a false positive is out of the question.
filter = BloomFilter(1000, 1e-9, sys.argv[1])
for key in keys:
    filter.add(key)
print([key for key in keys if key in filter])
filter.close()
PY

cat > read.py <<'PY'
import sys
from pybloomfilter import BloomFilter

filter = BloomFilter.open(sys.argv[1])
print([key for key in ["text", b"bytes", 7, (1, 2), ("user", 1)] if key in filter])
PY

{
  echo "The process that wrote the file finds: $(PYTHONHASHSEED=1 python/bin/python write.py filter.bloom)"
  echo "Another process finds: $(PYTHONHASHSEED=2 python/bin/python read.py filter.bloom)"
  PYTHONHASHSEED=1 python/bin/python write.py same.bloom > written
  echo "Two processes with one PYTHONHASHSEED find: $(PYTHONHASHSEED=1 python/bin/python read.py same.bloom)"
} | tee seen
diff - seen <<'EXPECTED'
The process that wrote the file finds: ['text', b'bytes', 7, (1, 2), ('user', 1)]
Another process finds: ['text', b'bytes', 7, (1, 2)]
Two processes with one PYTHONHASHSEED find: ['text', b'bytes', 7, (1, 2), ('user', 1)]
EXPECTED
echo 'By default, each process has a random PYTHONHASHSEED; here they are fixed so that the result is the same in every run.'
