#!/usr/bin/env bash
# Versions: goleveldb v1.0.1-0.20220721030215-126854af5e6d; plyvel 1.5.1, which contains LevelDB 1.22 (C++). Linux, a local
# file system.
#
# Expected: both libraries lock the file LOCK of a database while it is open for writing, so the second of two writers is
# refused, whichever library it uses.
#
# Actual: LevelDB refuses a second LevelDB, and goleveldb a second goleveldb, but each opens a folder that the other has open
# for writing. LevelDB locks with fcntl(F_SETLK), goleveldb with flock(LOCK_EX), and on Linux these two kinds of locks do
# not conflict. Both programs write without an error, and the writes of the first one are lost when both have closed, because
# CURRENT then names the MANIFEST of the second one.
#
#   second LevelDB: refused
#   second goleveldb: refused
#   goleveldb first, then LevelDB: leveldb
#   LevelDB first, then goleveldb: goleveldb
#
# (The last two lines list the remaining keys of two acknowledged puts, `goleveldb` and `leveldb`.)
#
# Needs: Linux, Go, Python 3 with pip.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check plyvel==1.5.1

mkdir go
cat > go/main.go <<'GO'
// Opens the database of its first argument, puts the key `goleveldb` after a line of input, and closes it after another.
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

func main() {
	db, err := leveldb.OpenFile(os.Args[1], nil)
	if err != nil {
		fmt.Println("refused")
		return
	}
	fmt.Println("opened")
	lines := bufio.NewScanner(os.Stdin)
	lines.Scan()
	if err := db.Put([]byte("goleveldb"), nil, &opt.WriteOptions{Sync: true}); err != nil {
		panic(err)
	}
	fmt.Println("written")
	lines.Scan()
	if err := db.Close(); err != nil {
		panic(err)
	}
}
GO
(
  cd go
  go mod init finding
  go get github.com/syndtr/goleveldb/leveldb@v1.0.1-0.20220721030215-126854af5e6d
  go build -o ../with-goleveldb .
) 2> go.log || { cat go.log >&2; exit 1; }

cat > with_leveldb.py <<'PYTHON'
"""Opens the database of its first argument, puts the key `leveldb` after a line of input, and closes it after another."""

import sys

import plyvel

try:
    db = plyvel.DB(sys.argv[1])
except plyvel.IOError:
    print("refused")
    sys.exit()
print("opened", flush=True)
sys.stdin.readline()
db.put(b"leveldb", b"", sync=True)
print("written", flush=True)
sys.stdin.readline()
db.close()
PYTHON

cat > finding.py <<'PYTHON'
import subprocess
import sys

import plyvel

GOLEVELDB = ["./with-goleveldb"]
LEVELDB = [sys.executable, "with_leveldb.py"]


class Writer:
    def __init__(self, command, folder):
        self.process = subprocess.Popen([*command, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answer = self.process.stdout.readline().strip()

    def put(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "written\n"

    def close(self):
        self.process.communicate("\n")
        assert self.process.returncode == 0


def second(folder, command):
    """Whether a second writer of the same library may open the folder."""
    first = Writer(command, folder)
    assert first.answer == "opened"
    answer = Writer(command, folder).answer
    first.put()
    first.close()
    return answer


def both(folder, *commands):
    """Opens the folder with each, then puts with each, then closes each; returns the keys that are left."""
    writers = [Writer(command, folder) for command in commands]
    assert [writer.answer for writer in writers] == ["opened", "opened"]
    for writer in writers:
        writer.put()
    for writer in writers:
        writer.close()
    return keys(folder)


def keys(folder):
    with plyvel.DB(folder) as db:
        return " ".join(key.decode() for key in db.iterator(include_value=False))


for folder in "abcd":
    plyvel.DB(folder, create_if_missing=True).close()
print("second LevelDB:", second("a", LEVELDB))
print("second goleveldb:", second("b", GOLEVELDB))
print("goleveldb first, then LevelDB:", both("c", GOLEVELDB, LEVELDB))
print("LevelDB first, then goleveldb:", both("d", LEVELDB, GOLEVELDB))
PYTHON

python/bin/python finding.py | tee seen
diff - seen <<'EXPECTED'
second LevelDB: refused
second goleveldb: refused
goleveldb first, then LevelDB: leveldb
LevelDB first, then goleveldb: goleveldb
EXPECTED
