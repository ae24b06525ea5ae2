#!/usr/bin/env bash
# Versions: rusty-leveldb 4.0.2 (Rust, default options); plyvel 1.5.1, which contains LevelDB 1.22 (C++).
#
# Expected: `get` finds every key that was put, as an iterator does.
#
# Actual: of 1000 keys and the same keys followed by a zero byte, a compacted database has all 2000, and an iterator returns them, but `get`
# of rusty-leveldb finds only 1909, without an error. LevelDB's `get` finds 1909 too, because the table itself is wrong.
#
# The index of a table has a key for each block, at or after the block's last key and before the first key of the next block. Where no
# shorter key is between the two, rusty-leveldb appends a zero byte to the last key, with its sequence. If that is the first key of the
# next block, and was put later, then it comes before the key in the index, so that a lookup searches only the earlier block.
#
#   rusty-leveldb: an iterator returns 2000 keys, get finds 1909
#   LevelDB: an iterator returns 2000 keys, get finds 1909
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

fn main() {
    let mut db = DB::open("database", Options::default()).unwrap();
    let keys: Vec<Vec<u8>> = (0..1000).flat_map(|i| [format!("key{i:03}").into_bytes(), format!("key{i:03}\0").into_bytes()]).collect();
    for key in &keys {
        db.put(key, &[b'v'; 380]).unwrap();
    }
    db.compact_range(b"key000", b"key999\0").unwrap();
    let gets = keys.iter().filter(|key| db.get(key).is_some()).count();
    let mut iterator = db.new_iter().unwrap();
    let mut entries = 0;
    while iterator.next().is_some() {
        entries += 1;
    }
    println!("rusty-leveldb: an iterator returns {entries} keys, get finds {gets}");
}
RUST
cargo build --quiet --manifest-path rust/Cargo.toml > cargo.log 2>&1 || { cat cargo.log >&2; exit 1; }

cat > finding.py <<'PYTHON'
import plyvel

KEYS = [b"key%03d" % i + end for i in range(1000) for end in (b"", b"\0")]


with plyvel.DB("database") as db:
    print(f"LevelDB: an iterator returns {len(list(db))} keys, get finds {sum(db.get(key) is not None for key in KEYS)}")
PYTHON

{
  rust/target/debug/finding
  python/bin/python finding.py
} | tee seen
diff - seen <<'EXPECTED'
rusty-leveldb: an iterator returns 2000 keys, get finds 1909
LevelDB: an iterator returns 2000 keys, get finds 1909
EXPECTED
