#!/usr/bin/env bash
# Versions: plyvel 1.5.1, which contains LevelDB 1.22 (C++); rocksdict 0.3.29, which contains RocksDB 9.8.4.
#
# Expected: LevelDB's repair refuses a folder that RocksDB wrote, as LevelDB's open does (“VersionEdit: unknown tag”), or at
# least reports an error, because it cannot read any of the tables.
#
# Actual: repair_db returns without an error and leaves an empty database. It has moved the MANIFEST and every table into
# the folder lost/, and both LevelDB and RocksDB open the remaining folder and find nothing. The moved files are unharmed: RocksDB
# finds every entry again when they and the old CURRENT are put back and the tables of the repair are removed.
#
#   LevelDB opens: b'Corruption: VersionEdit: unknown tag'
#   LevelDB repairs: no error
#   LevelDB finds 0 of 1000
#   RocksDB finds 0 of 1000
#   files in lost/ that are RocksDB's: all
#   RocksDB, with its files put back, finds 1000 of 1000
#
# Needs: Python 3 with pip.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check plyvel==1.5.1 rocksdict==0.3.29

cat > finding.py <<'PYTHON'
import pathlib
import shutil

import plyvel
from rocksdict import Options, Rdict


def rocksdb(folder):
    options = Options(raw_mode=True)
    options.create_if_missing(True)
    return Rdict(str(folder), options)


def found_by_rocksdb(folder):
    db = rocksdb(folder)
    count = len(list(db.keys()))
    db.close()
    return count


def found_by_leveldb(folder):
    with plyvel.DB(str(folder)) as db:
        return len(list(db))


folder, before, repaired = pathlib.Path("database"), pathlib.Path("before"), pathlib.Path("repaired")
db = rocksdb(folder)
for i in range(1000):
    db[b"key%04d" % i] = b"value"
db.flush()
db.close()
assert found_by_rocksdb(folder) == 1000

try:
    plyvel.DB(str(folder)).close()
    print("LevelDB opens: no error")
except plyvel.Error as error:
    print("LevelDB opens:", error)

shutil.copytree(folder, before)
plyvel.repair_db(str(folder))
print("LevelDB repairs: no error")
shutil.copytree(folder, repaired)
print("LevelDB finds", found_by_leveldb(folder), "of 1000")
print("RocksDB finds", found_by_rocksdb(folder), "of 1000")

lost = list((repaired / "lost").iterdir())
tables = {path.name for path in before.glob("*.sst")}
assert tables and tables <= {path.name for path in lost}
unharmed = all(path.read_bytes() == (before / path.name).read_bytes() for path in lost)
print("files in lost/ that are RocksDB's:", "all" if unharmed else "not all")

for table in repaired.glob("*.ldb"):
    table.unlink()
for path in lost:
    path.rename(repaired / path.name)
shutil.copy(before / "CURRENT", repaired / "CURRENT")
print("RocksDB, with its files put back, finds", found_by_rocksdb(repaired), "of 1000")
PYTHON

python/bin/python finding.py | tee seen
diff - seen <<'EXPECTED'
LevelDB opens: b'Corruption: VersionEdit: unknown tag'
LevelDB repairs: no error
LevelDB finds 0 of 1000
RocksDB finds 0 of 1000
files in lost/ that are RocksDB's: all
RocksDB, with its files put back, finds 1000 of 1000
EXPECTED
