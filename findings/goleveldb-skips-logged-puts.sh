#!/usr/bin/env bash
# Versions: goleveldb v1.0.1-0.20220721030215-126854af5e6d; plyvel 1.5.1, which contains LevelDB 1.22 (C++).
#
# Expected: goleveldb opens a database that LevelDB has closed properly and finds every entry in it, as LevelDB does.
#
# Actual: puts that are still in the log are lost if LevelDB ran a compaction after them. The compaction records the last
# sequence number in the MANIFEST, and that number counts the puts in the log. goleveldb skips batches of the log with a
# lower sequence number, without an error, and after goleveldb has opened the folder, LevelDB does not find them either.
# Reads are enough to start such a compaction: LevelDB compacts a table after 100 reads that searched it first and found
# the key in another one. Nothing is lost without a compaction, or if the log is empty when LevelDB closes the database.
#
#   without a compaction: LevelDB finds 5 of 5, goleveldb 5, then LevelDB 5
#   compaction after the puts: LevelDB finds 5 of 5, goleveldb 1, then LevelDB 1
#   compaction, then an empty log: LevelDB finds 5 of 5, goleveldb 5, then LevelDB 5
#
# Needs: Go, Python 3 with pip.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check plyvel==1.5.1

mkdir go
cat > go/main.go <<'GO'
// Opens the database of its first argument, prints its keys, one a line, and closes it.
package main

import (
	"fmt"
	"os"

	"github.com/syndtr/goleveldb/leveldb"
)

func main() {
	db, err := leveldb.OpenFile(os.Args[1], nil)
	if err != nil {
		panic(err)
	}
	entries := db.NewIterator(nil, nil)
	for entries.Next() {
		fmt.Println(string(entries.Key()))
	}
	entries.Release()
	if err := entries.Error(); err != nil {
		panic(err)
	}
	if err := db.Close(); err != nil {
		panic(err)
	}
}
GO
(
  cd go
  go mod init finding
  go get github.com/syndtr/goleveldb/leveldb@v1.0.1-0.20220721030215-126854af5e6d
  go build -o ../keys-with-goleveldb .
) 2> go.log || { cat go.log >&2; exit 1; }

cat > finding.py <<'PYTHON'
import shutil
import subprocess
import time

import plyvel


def write(folder, reads, compact_last):
    db = plyvel.DB(folder, create_if_missing=True)
    # Two tables, one above the other. A read of `m` looks into the upper one first, where it is not.
    for keys in (b"amz", b"by"):
        for key in keys:
            db.put(bytes([key]), b"")
        db.compact_range()
    before = db.get_property(b"leveldb.sstables")
    for i in range(5):
        db.put(b"put%d" % i, b"", sync=True)
    for _ in range(reads):
        db.get(b"m")
    deadline = time.monotonic() + 60
    while reads and db.get_property(b"leveldb.sstables") == before:
        assert time.monotonic() < deadline, "no compaction after the reads"
        time.sleep(0.01)
    if compact_last:
        db.compact_range()
    db.close()


def with_leveldb(folder):
    with plyvel.DB(folder) as db:
        return sum(key.startswith(b"put") for key in db.iterator(include_value=False))


def with_goleveldb(folder):
    keys = subprocess.run(["./keys-with-goleveldb", folder], check=True, capture_output=True, text=True).stdout
    return sum(key.startswith("put") for key in keys.splitlines())


def show(name, folder, **how):
    write(folder, **how)
    copy = folder + "-copy"
    shutil.copytree(folder, copy)
    print(f"{name}: LevelDB finds {with_leveldb(copy)} of 5, goleveldb {with_goleveldb(folder)}, then LevelDB {with_leveldb(folder)}")


show("without a compaction", "a", reads=0, compact_last=False)
show("compaction after the puts", "b", reads=1000, compact_last=False)
show("compaction, then an empty log", "c", reads=1000, compact_last=True)
PYTHON

python/bin/python finding.py | tee seen
diff - seen <<'EXPECTED'
without a compaction: LevelDB finds 5 of 5, goleveldb 5, then LevelDB 5
compaction after the puts: LevelDB finds 5 of 5, goleveldb 1, then LevelDB 1
compaction, then an empty log: LevelDB finds 5 of 5, goleveldb 5, then LevelDB 5
EXPECTED
