#!/usr/bin/env bash
# Versions: plyvel 1.5.1, which contains LevelDB 1.22 (C++).
#
# Expected: repair_db of a database without any damage keeps the latest value of every key, and deleted keys stay deleted. LevelDB's
# header warns only that some data may be lost.
#
# Actual: nothing is lost, but `get` returns an overwritten value and a deleted one, while an iterator over the same database returns the
# right ones. The repair puts every table into level 0. There `get` searches the table with the highest number first and takes what it
# finds, because in a normal database that table has the latest writes of level 0. A compaction gives its output a new number, which
# may be higher than that of a table with later writes. Iterators compare sequence numbers instead. The next compaction
# of these tables makes `get` right again, unless a program has written the old values back by then.
#
# This script requests a compaction of the keys from a to b, so that the order of the tables is certain. Automatic compactions have the same
# effect, depending on their timing: 4 of 12 databases of 60,000 to 400,000 puts of random keys returned old values after a repair, for up
# to 320 keys.
#
#   before the repair: get finds m = new, n absent; an iterator finds m = new, n absent
#   after repair_db: get finds m = old, n = old; an iterator finds m = new, n absent
#   after a compaction: get finds m = new, n absent; an iterator finds m = new, n absent
#
# Needs: Python 3 with pip.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check plyvel==1.5.1

cat > finding.py <<'PYTHON'
import plyvel


def flush(db):
    """Writes what is in memory to a table. No key is in the range, so no table is compacted."""
    db.compact_range(start=b"~", stop=b"~")


def show(when, db):
    entries = dict(db)
    ways = {"get": db.get, "an iterator": entries.get}
    found = {
        way: ", ".join(f"{key} absent" if (value := read(key.encode())) is None else f"{key} = {value.decode()}" for key in "mn")
        for way, read in ways.items()
    }
    print(f"{when}: " + "; ".join(f"{way} finds {what}" for way, what in found.items()))


db = plyvel.DB("database", create_if_missing=True)
# Two tables in levels 2 and 1, and one in level 0 with the latest writes.
for value in (b"older", b"old"):
    for key in (b"a", b"m", b"n", b"z"):
        db.put(key, value)
    flush(db)
db.put(b"m", b"new")
db.delete(b"n")
flush(db)
# Merges the two lower tables into one with a new number.
db.compact_range(start=b"a", stop=b"b")
db.close()

with plyvel.DB("database") as db:
    show("before the repair", db)
plyvel.repair_db("database")
with plyvel.DB("database") as db:
    show("after repair_db", db)
    db.compact_range(start=b"a", stop=b"z")
    show("after a compaction", db)
PYTHON

python/bin/python finding.py | tee seen
diff - seen <<'EXPECTED'
before the repair: get finds m = new, n absent; an iterator finds m = new, n absent
after repair_db: get finds m = old, n = old; an iterator finds m = new, n absent
after a compaction: get finds m = new, n absent; an iterator finds m = new, n absent
EXPECTED
