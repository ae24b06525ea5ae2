#!/usr/bin/env bash
# Versions: plyvel 1.5.1, which contains LevelDB 1.22 (C++).
#
# Expected: an iterator with `reverse=True` returns the same entries as one without it, in the opposite order, as plyvel's user guide shows
# with an example. `start` is inclusive by default.
#
# Actual: if the only entry in the range has the key `start`, the reverse iterator returns nothing, without an error. So a search for the
# last entry from a key on finds none where there is exactly this one, and a prefix that is itself the only key with this prefix is found
# forwards, but not backwards. The same holds for snapshots, for prefixed databases, and for `prev` at the end of an iterator. To begin at
# the end, plyvel looks for the last entry before `stop`, and returns nothing if its key is at or before `start`. It compares as if `start`
# were always exclusive. With a second entry in the range, both are returned.
#
#   start=b'b', stop=b'c': forwards [b'b'], reverse []
#   start=b'd': forwards [b'd'], reverse []
#   prefix=b'b': forwards [b'b'], reverse []
#   prefixed database b'b': forwards [b''], reverse []
#   snapshot, start=b'b', stop=b'c': forwards [b'b'], reverse []
#   start=b'b', stop=b'd': forwards [b'b', b'c'], reverse [b'c', b'b']
#   start=b'aa', stop=b'c': forwards [b'b'], reverse [b'b']
#   start=b'b', stop=b'c', after the end: prev returns nothing
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

db = plyvel.DB("database", create_if_missing=True)
for key in [b"a", b"b", b"c", b"d"]:
    db.put(key, b"value")


def show(reader, name, **bounds):
    forwards, reverse = (list(reader.iterator(include_value=False, reverse=reverse, **bounds)) for reverse in (False, True))
    print(f"{name}: forwards {forwards}, reverse {reverse}")


show(db, "start=b'b', stop=b'c'", start=b"b", stop=b"c")
show(db, "start=b'd'", start=b"d")
show(db, "prefix=b'b'", prefix=b"b")
show(db.prefixed_db(b"b"), "prefixed database b'b'")
show(db.snapshot(), "snapshot, start=b'b', stop=b'c'", start=b"b", stop=b"c")
show(db, "start=b'b', stop=b'd'", start=b"b", stop=b"d")
show(db, "start=b'aa', stop=b'c'", start=b"aa", stop=b"c")
iterator = db.iterator(start=b"b", stop=b"c", include_value=False)
for key in iterator:
    pass
try:
    last = iterator.prev()
except StopIteration:
    last = "nothing"
print(f"start=b'b', stop=b'c', after the end: prev returns {last}")
PYTHON

python/bin/python finding.py | tee seen
diff - seen <<'EXPECTED'
start=b'b', stop=b'c': forwards [b'b'], reverse []
start=b'd': forwards [b'd'], reverse []
prefix=b'b': forwards [b'b'], reverse []
prefixed database b'b': forwards [b''], reverse []
snapshot, start=b'b', stop=b'c': forwards [b'b'], reverse []
start=b'b', stop=b'd': forwards [b'b', b'c'], reverse [b'c', b'b']
start=b'aa', stop=b'c': forwards [b'b'], reverse [b'b']
start=b'b', stop=b'c', after the end: prev returns nothing
EXPECTED
