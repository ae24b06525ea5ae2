#!/usr/bin/env bash
# Versions: plyvel 1.5.1, which contains LevelDB 1.22 (C++). Linux.
#
# Expected: repair_db is refused while another process has the database open for writing, as a second open and destroy_db
# are: all of them change the folder, and LevelDB has the file LOCK for this.
#
# Actual: repair_db takes no lock. It succeeds while the writer is running, and moves the writer's current log into the
# folder lost/. The writer notices nothing: a synchronous put afterwards returns, and the writer reads the key back. After
# its close the key is gone from the database; it is in the log in lost/.
#
#   open: refused
#   destroy_db: refused
#   repair_db: done
#   the writer finds after, before
#   the next to open finds before
#   lost/ holds the put: yes
#
# Needs: Linux, Python 3 with pip.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check plyvel==1.5.1

cat > other_process.py <<'PYTHON'
import sys

import plyvel

call = {"open": lambda path: plyvel.DB(path).close(), "destroy_db": plyvel.destroy_db, "repair_db": plyvel.repair_db}
try:
    call[sys.argv[1]]("database")
    print(sys.argv[1] + ": done")
except plyvel.IOError:
    print(sys.argv[1] + ": refused")
PYTHON

cat > finding.py <<'PYTHON'
import pathlib
import subprocess
import sys

import plyvel


def keys(db):
    return ", ".join(key.decode() for key in db.iterator(include_value=False))


db = plyvel.DB("database", create_if_missing=True)
db.put(b"before", b"", sync=True)
for name in ("open", "destroy_db", "repair_db"):
    print(subprocess.run([sys.executable, "other_process.py", name], check=True, capture_output=True, text=True).stdout.strip())
db.put(b"after", b"", sync=True)
print("the writer finds", keys(db))
db.close()
with plyvel.DB("database") as db:
    print("the next to open finds", keys(db))
logs = pathlib.Path("database/lost").glob("*.log")
print("lost/ holds the put:", "yes" if any(b"after" in log.read_bytes() for log in logs) else "no")
PYTHON

python/bin/python finding.py | tee seen
diff - seen <<'EXPECTED'
open: refused
destroy_db: refused
repair_db: done
the writer finds after, before
the next to open finds before
lost/ holds the put: yes
EXPECTED
