#!/usr/bin/env bash
# Versions: rusty-leveldb 4.0.2 (Rust, default options); plyvel 1.5.1, which contains LevelDB 1.22 (C++).
#
# Expected: `get` of rusty-leveldb finds every key of a database that LevelDB wrote, as LevelDB's does.
#
# Actual: of 1000 puts and 100 later deletions, `get` finds 9 of the 900 keys that are left. It returns None for the others, without an
# error. An iterator of rusty-leveldb finds all 900, and so does `get` after a compaction. For a key that a table does not have, the
# search in the table returns the next larger entry. If that entry is a value, rusty-leveldb checks that it has the key that it
# searches for. If it is a deletion, rusty-leveldb does not check this, and does not search older tables. So a key is missed if the
# next larger entry of a newer table, whose range contains the key, is a deletion.
#
# A filter of the newer table hides this, except for the absent keys that it lets pass: with 10 bits per key, 1% of the keys are
# missed. LevelDB writes no filters by default, rusty-leveldb does. Of 200,000 random puts, deletions and gets of 20,000 keys by
# rusty-leveldb alone, 104 gets wrongly returned None.
#
#   LevelDB: get finds 900, an iterator 900
#   rusty-leveldb: get finds 9, an iterator 900
#   rusty-leveldb, after a compaction: get finds 900, an iterator 900
#   LevelDB with filters: get finds 900, an iterator 900
#   rusty-leveldb with filters: get finds 891, an iterator 900
#   rusty-leveldb with filters, after a compaction: get finds 900, an iterator 900
#   rusty-leveldb alone: some gets find nothing, none find a wrong value
#
# Needs: Rust with cargo, Python 3 with pip.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check plyvel==1.5.1

mkdir -p rust/src
cat > rust/Cargo.toml <<'TOML'
[package]
name = "finding"
version = "0.0.0"
edition = "2021"
publish = false

[dependencies]
rusty-leveldb = { version = "=4.0.2", default-features = false, features = ["fs"] }

[workspace]
TOML
cat > rust/src/main.rs <<'RUST'
use rusty_leveldb::{LdbIterator, Options, DB};
use std::{collections::HashMap, env::args};

fn show(what: &str, db: &mut DB) {
    let gets = (0..1000).filter(|i| db.get(format!("key{i:03}").as_bytes()).is_some()).count();
    let mut iterator = db.new_iter().unwrap();
    let mut entries = 0;
    while iterator.next().is_some() {
        entries += 1;
    }
    println!("{what}: get finds {gets}, an iterator {entries}");
}

/// Half of the operations are puts, an eighth are deletions, and the rest are gets, which are compared with a map.
fn alone() {
    let mut db = DB::open("alone", Options::default()).unwrap();
    let mut expected = HashMap::new();
    let mut random = 1u64;
    let mut next = |end: u64| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) % end
    };
    let (mut nothing, mut wrong) = (0, 0);
    for i in 0..200_000 {
        let key = format!("key{:05}", next(20_000)).into_bytes();
        match next(8) {
            0..4 => {
                let value = format!("{i:0100}").into_bytes();
                db.put(&key, &value).unwrap();
                expected.insert(key, value);
            }
            4 => {
                db.delete(&key).unwrap();
                expected.remove(&key);
            }
            _ => match (db.get(&key), expected.get(&key)) {
                (None, Some(_)) => nothing += 1,
                (Some(found), value) if Some(&found.to_vec()) != value => wrong += 1,
                _ => {}
            },
        }
    }
    let some = |count| if count > 0 { "some" } else { "none" };
    println!("rusty-leveldb alone: {} gets find nothing, {} find a wrong value", some(nothing), some(wrong));
}

fn of_leveldb(name: &str, folder: &str) {
    let mut db = DB::open(folder, Options::default()).unwrap();
    show(name, &mut db);
    db.compact_range(b"key000", b"key999").unwrap();
    show(&format!("{name}, after a compaction"), &mut db);
}

fn main() {
    match args().nth(1).unwrap().as_str() {
        "unfiltered" => of_leveldb("rusty-leveldb", "unfiltered"),
        "filtered" => of_leveldb("rusty-leveldb with filters", "filtered"),
        _ => alone(),
    }
}
RUST
cargo build --quiet --manifest-path rust/Cargo.toml > cargo.log 2>&1 || { cat cargo.log >&2; exit 1; }

cat > with_leveldb.py <<'PYTHON'
import shutil
import sys

import plyvel

KEYS = [b"key%03d" % i for i in range(1000)]


def write(name, folder, **options):
    with plyvel.DB(folder, create_if_missing=True, **options) as db:
        for key in KEYS:
            db.put(key, b"value")
        db.compact_range(start=KEYS[0], stop=KEYS[-1])
        for key in KEYS[::10]:
            db.delete(key)
        # No key is in this range, so the deletions are written to a table that is not merged with the other one.
        db.compact_range(start=b"~", stop=b"~")
    # In a copy, because these gets make LevelDB merge the two tables.
    shutil.copytree(folder, "copy-of-" + folder)
    with plyvel.DB("copy-of-" + folder, **options) as db:
        print(f"{name}: get finds {sum(db.get(key) is not None for key in KEYS)}, an iterator {len(list(db))}")


if sys.argv[1] == "unfiltered":
    write("LevelDB", "unfiltered")
else:
    write("LevelDB with filters", "filtered", bloom_filter_bits=10)
PYTHON

{
  for folder in unfiltered filtered; do
    python/bin/python with_leveldb.py "$folder"
    rust/target/debug/finding "$folder"
  done
  rust/target/debug/finding alone
} | tee seen
diff - seen <<'EXPECTED'
LevelDB: get finds 900, an iterator 900
rusty-leveldb: get finds 9, an iterator 900
rusty-leveldb, after a compaction: get finds 900, an iterator 900
LevelDB with filters: get finds 900, an iterator 900
rusty-leveldb with filters: get finds 891, an iterator 900
rusty-leveldb with filters, after a compaction: get finds 900, an iterator 900
rusty-leveldb alone: some gets find nothing, none find a wrong value
EXPECTED
