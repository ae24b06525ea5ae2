#!/usr/bin/env bash
# Versions: rusty-leveldb 4.0.2 (Rust, default options); plyvel 1.5.1, which contains LevelDB 1.22 (C++).
#
# Expected: a put that has returned survives a crash or exit of its process. LevelDB passes each batch to the operating system before it
# returns, so only a crash of the whole machine can lose puts that were not synchronous.
#
# Actual: rusty-leveldb keeps the log in a buffer of the process. If a process exits after 100 puts that returned Ok, all of
# them are lost: the log is empty. They are kept if the process calls `flush` first, drops the database, or
# makes a synchronous write, which also writes the earlier puts.
#
#   LevelDB, exit: 100 of 100
#   rusty-leveldb, exit: 0 of 100
#   rusty-leveldb, flush and exit: 100 of 100
#   rusty-leveldb, synchronous write and exit: 100 of 100
#   rusty-leveldb, drop: 100 of 100
#
# (LevelDB counts the keys in each case.)
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
//! Puts 100 keys into the database of the first argument and ends as the second says.

use rusty_leveldb::{Options, WriteBatch, DB};
use std::{env::args, process::exit};

fn main() {
    let arguments: Vec<String> = args().collect();
    let mut db = DB::open(&arguments[1], Options::default()).unwrap();
    for i in 0..100 {
        db.put(format!("key{i:02}").as_bytes(), b"value").unwrap();
    }
    match arguments[2].as_str() {
        "exit" => exit(0),
        "flush and exit" => {
            db.flush().unwrap();
            exit(0);
        }
        "synchronous write and exit" => {
            let mut batch = WriteBatch::default();
            batch.delete(b"another key");
            db.write(batch, true).unwrap();
            exit(0);
        }
        "drop" => drop(db),
        other => panic!("unknown end {other}"),
    }
}
RUST
cargo build --quiet --manifest-path rust/Cargo.toml > cargo.log 2>&1 || { cat cargo.log >&2; exit 1; }

cat > with_leveldb.py <<'PYTHON'
"""Puts 100 keys into the database of its first argument and ends without closing it."""

import os
import sys

import plyvel

db = plyvel.DB(sys.argv[1], create_if_missing=True)
for i in range(100):
    db.put(b"key%02d" % i, b"value")
os._exit(0)
PYTHON

cat > finding.py <<'PYTHON'
import subprocess
import sys

import plyvel


def show(name, *command):
    folder = name.replace(" ", "-")
    subprocess.run([part.replace("FOLDER", folder) for part in command], check=True)
    with plyvel.DB(folder) as db:
        print(f"{name}: {len(list(db))} of 100")


show("LevelDB, exit", sys.executable, "with_leveldb.py", "FOLDER")
for end in ("exit", "flush and exit", "synchronous write and exit", "drop"):
    show(f"rusty-leveldb, {end}", "rust/target/debug/finding", "FOLDER", end)
PYTHON

python/bin/python finding.py | tee seen
diff - seen <<'EXPECTED'
LevelDB, exit: 100 of 100
rusty-leveldb, exit: 0 of 100
rusty-leveldb, flush and exit: 100 of 100
rusty-leveldb, synchronous write and exit: 100 of 100
rusty-leveldb, drop: 100 of 100
EXPECTED
