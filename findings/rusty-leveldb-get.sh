#!/usr/bin/env bash
# Versions: rusty-leveldb 4.0.2 (Rust, default options); plyvel 1.5.1, which contains LevelDB 1.22 (C++, default options).
#
# Expected: `get` of rusty-leveldb finds every key of a database that LevelDB wrote, as LevelDB's does.
#
# Seen: of 1000 puts and 100 later deletions, `get` finds 9 of the 900 keys that are left. It returns None for the others, without an
# error. An iterator of rusty-leveldb finds all 900, and so does `get` after a compaction. For a key that a table does not have, the
# search in the table returns the next larger entry. Before rusty-leveldb takes a value, it checks that the entry has the key that it
# searches for. Before it takes a deletion, it does not, and it looks into no older table. So a key is missed if the next larger
# entry of a newer table, whose range contains the key, is a deletion.
#
# A filter of the newer table hides this, except where it lets the key pass wrongly. LevelDB writes no filters by default. rusty-leveldb
# writes them: with 200,000 random puts, deletions and gets of 20,000 keys, 104 of its gets found nothing.
#
#   LevelDB: get finds 900, an iterator 900
#   rusty-leveldb: get finds 9, an iterator 900
#   rusty-leveldb, after a compaction: get finds 900, an iterator 900
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
use std::collections::HashMap;

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

fn main() {
    let mut db = DB::open("database", Options::default()).unwrap();
    show("rusty-leveldb", &mut db);
    db.compact_range(b"key000", b"key999").unwrap();
    show("rusty-leveldb, after a compaction", &mut db);
    alone();
}
RUST
cargo build --quiet --manifest-path rust/Cargo.toml > cargo.log 2>&1 || { cat cargo.log >&2; exit 1; }

cat > with_leveldb.py <<'PYTHON'
import shutil

import plyvel

keys = [b"key%03d" % i for i in range(1000)]
db = plyvel.DB("database", create_if_missing=True)
for key in keys:
    db.put(key, b"value")
db.compact_range(start=keys[0], stop=keys[-1])
for key in keys[::10]:
    db.delete(key)
# No key is in this range, so the deletions are written to a table that is not merged with the other one.
db.compact_range(start=b"~", stop=b"~")
db.close()
# In a copy, because these gets make LevelDB merge the two tables.
shutil.copytree("database", "copy")
with plyvel.DB("copy") as db:
    print(f"LevelDB: get finds {sum(db.get(key) is not None for key in keys)}, an iterator {len(list(db))}")
PYTHON

{
  python/bin/python with_leveldb.py
  rust/target/debug/finding
} | tee seen
diff - seen <<'EXPECTED'
LevelDB: get finds 900, an iterator 900
rusty-leveldb: get finds 9, an iterator 900
rusty-leveldb, after a compaction: get finds 900, an iterator 900
rusty-leveldb alone: some gets find nothing, none find a wrong value
EXPECTED
