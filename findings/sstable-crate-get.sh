#!/usr/bin/env bash
# Versions: sstable 0.11.1 from crates.io; plyvel 1.5.1, which contains LevelDB 1.22 (C++).
#
# Expected: `Table::get` of the crate sstable, whose tables are in LevelDB's format, finds every key that its iterator returns from a table.
#
# Actual: in a table that LevelDB wrote, it returns None for the last key of each of the first 99 of the 100 blocks, without an error. The
# index has a key for each block that is not smaller than the block's last key. LevelDB makes it as short as possible, and where
# nothing can be saved, it is the last key itself. `get` takes a block only if the key in the index is larger than the one that it searches
# for. In the crate's own tables it is always larger, so a test that writes and reads with the crate does not notice.
#
# The keys are those that the iterator returns: six digits, and the eight bytes that LevelDB's databases append.
#
#   Table of LevelDB: the iterator returns 1000 keys, get finds 901
#   The same entries in a table of the crate: the iterator returns 1000 keys, get finds 1000
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
sstable = "=0.11.1"

[workspace]
TOML
cat > rust/src/main.rs <<'RUST'
use sstable::{CompressionType, Options, SSIterator, Table, TableBuilder};
use std::{env::args, fs::File, path::Path};

type Entries = Vec<(Vec<u8>, Vec<u8>)>;

fn show(what: &str, path: &str) -> Entries {
    let table = Table::new_from_file(Options::default(), Path::new(path)).unwrap();
    let mut entries = Entries::new();
    let mut iterator = table.iter();
    while let Some(entry) = iterator.next() {
        entries.push(entry);
    }
    let found = entries.iter().filter(|(key, value)| table.get(key).unwrap().as_ref() == Some(value)).count();
    println!("{what}: the iterator returns {} keys, get finds {found}", entries.len());
    entries
}

fn main() {
    let entries = show("Table of LevelDB", &args().nth(1).unwrap());
    let options = Options { block_size: 4096, compression_type: CompressionType::CompressionNone, ..Options::default() };
    let mut builder = TableBuilder::new(options, File::create("own").unwrap());
    for (key, value) in &entries {
        builder.add(key, value).unwrap();
    }
    builder.finish().unwrap();
    show("The same entries in a table of the crate", "own");
}
RUST
cargo build --quiet --release --manifest-path rust/Cargo.toml 2> cargo.log || { cat cargo.log >&2; exit 1; }

python/bin/python - <<'PYTHON'
import plyvel

with plyvel.DB("database", create_if_missing=True, compression=None, block_size=4096) as db:
    for i in range(1000):
        db.put(b"%06d" % i, bytes(400))
    db.compact_range()
PYTHON

rust/target/release/finding "$(ls database/*.ldb)" | tee seen
diff - seen <<'EXPECTED'
Table of LevelDB: the iterator returns 1000 keys, get finds 901
The same entries in a table of the crate: the iterator returns 1000 keys, get finds 1000
EXPECTED
