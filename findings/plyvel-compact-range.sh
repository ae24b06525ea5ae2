#!/usr/bin/env bash
# Versions: plyvel 1.5.1, which contains LevelDB 1.22 (C++).
#
# Expected: compact_range compacts the whole database if it is called without `start` and `stop`, and from `start` to the end of the database
# without `stop`. plyvel's documentation calls both optional and refers to LevelDB's CompactRange, where an absent end means the end
# of the database.
#
# Actual: without `stop`, nothing is compacted, and there is no error. plyvel passes an empty key instead of an absent one. For `start`, that
# is the same. For `stop`, it makes a range of the empty key alone, or one that ends before it starts. A program that
# deletes entries and then calls compact_range() to reclaim the space keeps the whole space.
#
#   8000 entries of 1 kB: 8 MB in tables, and after their deletion:
#   compact_range(): 8 MB
#   compact_range(start=b'key'): 8 MB
#   compact_range(stop=b'key~'): 0 MB
#   compact_range(start=b'key', stop=b'key~'): 0 MB
#
# Needs: Python 3 with pip.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check plyvel==1.5.1

cat > finding.py <<'PYTHON'
import os
import pathlib
import shutil

import plyvel


def megabytes(folder):
    return round(sum(path.stat().st_size for path in pathlib.Path(folder).glob("*.ldb")) / 1e6)


keys = [b"key%04d" % i for i in range(8000)]
db = plyvel.DB("full", create_if_missing=True)
for key in keys:
    db.put(key, os.urandom(1000))
# A range with both ends: everything goes from the log to tables.
db.compact_range(start=b"key", stop=b"key~")
db.close()
print(f"8000 entries of 1 kB: {megabytes('full')} MB in tables, and after their deletion:")
for name, bounds in [
    ("", {}),
    ("start=b'key'", {"start": b"key"}),
    ("stop=b'key~'", {"stop": b"key~"}),
    ("start=b'key', stop=b'key~'", {"start": b"key", "stop": b"key~"}),
]:
    folder = "deleted " + name
    shutil.copytree("full", folder)
    db = plyvel.DB(folder)
    for key in keys:
        db.delete(key)
    db.compact_range(**bounds)
    db.close()
    print(f"compact_range({name}): {megabytes(folder)} MB")
PYTHON

python/bin/python finding.py | tee seen
diff - seen <<'EXPECTED'
8000 entries of 1 kB: 8 MB in tables, and after their deletion:
compact_range(): 8 MB
compact_range(start=b'key'): 8 MB
compact_range(stop=b'key~'): 0 MB
compact_range(start=b'key', stop=b'key~'): 0 MB
EXPECTED
