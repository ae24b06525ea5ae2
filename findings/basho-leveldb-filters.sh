#!/usr/bin/env bash
# Versions: Basho's LevelDB, on which Riak stores data, from leveldown-basho 0.10.1 on npm; plyvel 1.5.1, which contains LevelDB 1.22 (C++).
#
# Expected: LevelDB finds every key of tables that Basho's fork wrote. Their format is LevelDB's; the fork only keeps them in a folder for
# each level (sst_0 to sst_6). LevelDB ignores filters of a policy that it does not know, because it compares the policies' names.
#
# Actual: an iterator of LevelDB returns all keys, and a database opened without filters finds all of them, but one opened with LevelDB's
# own Bloom filters finds 1 of 1000. There is no error. The fork's NewBloomFilterPolicy2, which Riak uses, hashes keys twice and sets other
# bits, but it has the name that LevelDB gave to its own filters later, in version 1.18: leveldb.BuiltinBloomFilter2. LevelDB uses them
# as its own, and they reject nearly every stored key.
#
#   iterator: 1000 of 1000
#   get without filters: 1000 of 1000
#   get with LevelDB's Bloom filters: 1 of 1000
#
# Needs: npm, g++, Python 3 with pip.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check plyvel==1.5.1

npm pack --silent leveldown-basho@0.10.1 > /dev/null
tar xzf leveldown-basho-0.10.1.tgz
basho=package/deps/leveldb/leveldb-basho

cat > write.cc <<'CC'
#include <cstdio>
#include "leveldb/db.h"
#include "leveldb/filter_policy.h"

// Puts 1,000 keys, and opens the database again, which makes a table of the log.
int main() {
  leveldb::Options options;
  options.create_if_missing = true;
  options.filter_policy = leveldb::NewBloomFilterPolicy2(16);
  for (int opening = 0; opening < 2; opening++) {
    leveldb::DB* db;
    if (!leveldb::DB::Open(options, "database", &db).ok()) return 1;
    for (int i = 0; opening == 0 && i < 1000; i++) {
      char key[16];
      snprintf(key, sizeof(key), "key%06d", i);
      if (!db->Put(leveldb::WriteOptions(), key, "value").ok()) return 1;
    }
    delete db;
  }
}
CC
{
  flags="-O1 -w -fpermissive -std=gnu++11 -DOS_LINUX -DLEVELDB_PLATFORM_POSIX -include cstdint -include cstring -I$basho -I$basho/include"
  find "$basho"/{db,table,util} "$basho/port/port_posix.cc" -name '*.cc' ! -name '*_test.cc' ! -name '*_bench.cc' ! -name 'test*.cc' ! -name '*_main.cc' |
    xargs -P "$(nproc)" -I{} sh -c "g++ -c $flags {} -o \$(echo {} | tr / _).o"
  g++ $flags write.cc ./*.o -lpthread -o write
} 2> build.log || { cat build.log >&2; exit 1; }
./write
mv database/sst_?/*.sst database

cat > finding.py <<'PYTHON'
import plyvel


def show(what, count):
    print(f"{what}: {count} of 1000")


keys = [b"key%06d" % i for i in range(1000)]
with plyvel.DB("database") as db:
    show("iterator", sum(1 for _ in db))
    show("get without filters", sum(db.get(key) is not None for key in keys))
with plyvel.DB("database", bloom_filter_bits=10) as db:
    show("get with LevelDB's Bloom filters", sum(db.get(key) is not None for key in keys))
PYTHON

python/bin/python finding.py | tee seen
diff - seen <<'EXPECTED'
iterator: 1000 of 1000
get without filters: 1000 of 1000
get with LevelDB's Bloom filters: 1 of 1000
EXPECTED
