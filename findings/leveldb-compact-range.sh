#!/usr/bin/env bash
# Versions: plyvel 1.5.1, which contains LevelDB 1.22 (C++).
#
# Expected: after compact_range, tables have the last value of each key and no others. LevelDB's header promises that for CompactRange.
#
# Actual: in a new database, it moves them from the log to a table, and they stay there. One key that was overwritten 1000 times takes 1 MB
# after any number of compactions, and the value of a deleted key can still be read in the file. A table of the memtable has every version of
# every key, and if nothing in the way overlaps with it, it is put into level 2. The compaction that follows merges levels 0 and 1 only,
# because the deepest level with keys of the range was looked up before the table was written. Later calls merge the levels above
# the deepest one into it, so a level is never merged with itself. A write of a key in the table's range changes this: the next compaction
# discards the old versions.
#
# The same happens in a database that has an entry with another key, in a table that does not overlap with the table of the memtable.
#
#   one key, overwritten 1000 times, after compact_range: 1 entry, about 1 MB, 1 table in level 2
#   after three more, and opening again: 1 entry, about 1 MB, 1 table in level 2
#   after another put of the key and compact_range: 1 entry, less than 10 kB, 1 table in level 2
#   with an entry of another key before it, after compact_range: 2 entries, about 1 MB, 2 tables in level 2
#   after three more, and opening again: 2 entries, about 1 MB, 2 tables in level 2
#   a deleted key, after compact_range: 0 entries, the value is in the table
#   after three more, and opening again: 0 entries, the value is in the table
#   after another deletion of the key and compact_range: 0 entries, the value is not in the table
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

import plyvel


def tables(folder):
    return [path.read_bytes() for path in pathlib.Path(folder).glob("*.ldb")]


def entries(db):
    count = sum(1 for _ in db)
    return f"{count} entr{'y' if count == 1 else 'ies'}"


def compact_and_reopen(db, folder):
    for _ in range(3):
        db.compact_range(start=b"", stop=b"~")
    db.close()
    db = plyvel.DB(folder)
    db.compact_range(start=b"", stop=b"~")
    return db


def size(folder):
    length = sum(map(len, tables(folder)))
    if length < 10_000:
        return "less than 10 kB"
    return "about 1 MB" if 1_000_000 <= length < 1_100_000 else f"{length} bytes"


def overwrite(db):
    for _ in range(1000):
        db.put(b"key", os.urandom(1000))
    db.compact_range(start=b"", stop=b"~")


def state(db, folder):
    count = int(db.get_property(b"leveldb.num-files-at-level2"))
    return f"{entries(db)}, {size(folder)}, {count} table{'' if count == 1 else 's'} in level 2"


db = plyvel.DB("overwritten", create_if_missing=True)
overwrite(db)
print(f"one key, overwritten 1000 times, after compact_range: {state(db, 'overwritten')}")
db = compact_and_reopen(db, "overwritten")
print(f"after three more, and opening again: {state(db, 'overwritten')}")
db.put(b"key", b"last")
db.compact_range(start=b"", stop=b"~")
print(f"after another put of the key and compact_range: {state(db, 'overwritten')}")
db.close()

db = plyvel.DB("other", create_if_missing=True)
db.put(b"another", b"value")
db.compact_range(start=b"", stop=b"~")
overwrite(db)
print(f"with an entry of another key before it, after compact_range: {state(db, 'other')}")
db = compact_and_reopen(db, "other")
print(f"after three more, and opening again: {state(db, 'other')}")
db.close()

secret = os.urandom(20)


def found():
    return "the value is in the table" if any(secret in table for table in tables("deleted")) else "the value is not in the table"


db = plyvel.DB("deleted", create_if_missing=True)
db.put(b"key", secret)
db.delete(b"key")
db.compact_range(start=b"", stop=b"~")
print(f"a deleted key, after compact_range: {entries(db)}, {found()}")
db = compact_and_reopen(db, "deleted")
print(f"after three more, and opening again: {entries(db)}, {found()}")
db.delete(b"key")
db.compact_range(start=b"", stop=b"~")
print(f"after another deletion of the key and compact_range: {entries(db)}, {found()}")
db.close()
PYTHON

python/bin/python finding.py | tee seen
diff - seen <<'EXPECTED'
one key, overwritten 1000 times, after compact_range: 1 entry, about 1 MB, 1 table in level 2
after three more, and opening again: 1 entry, about 1 MB, 1 table in level 2
after another put of the key and compact_range: 1 entry, less than 10 kB, 1 table in level 2
with an entry of another key before it, after compact_range: 2 entries, about 1 MB, 2 tables in level 2
after three more, and opening again: 2 entries, about 1 MB, 2 tables in level 2
a deleted key, after compact_range: 0 entries, the value is in the table
after three more, and opening again: 0 entries, the value is in the table
after another deletion of the key and compact_range: 0 entries, the value is not in the table
EXPECTED
