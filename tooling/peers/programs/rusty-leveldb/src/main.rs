//! Runs rusty-leveldb: as src/peer-process.ts describes, or one job of the benchmark of whole processes, `peer JOB FOLDER ENTRIES`.

use rusty_leveldb::compressor::{CompressorId, SnappyCompressor};
use rusty_leveldb::{LdbIterator, Options, WriteBatch, DB};
use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::{stdin, BufRead};

type Result = std::result::Result<(), Box<dyn Error>>;

fn bytes_of(token: &str) -> Vec<u8> {
    let digits = token.strip_prefix('x').unwrap();
    (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::from("x"), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn apply(db: &mut DB, path: &str) -> Result {
    for line in fs::read_to_string(path)?.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        match fields[0] {
            "put" => db.put(&bytes_of(fields[1]), &bytes_of(fields[2]))?,
            _ => db.delete(&bytes_of(fields[1]))?,
        }
    }
    Ok(())
}

fn dump(db: &mut DB, path: &str) -> Result {
    let mut text = String::new();
    let mut iterator = db.new_iter()?;
    while let Some((key, value)) = iterator.next() {
        writeln!(text, "{} {}", hex(&key), hex(&value))?;
    }
    Ok(fs::write(path, text)?)
}

fn open(argument: &str) -> std::result::Result<DB, Box<dyn Error>> {
    let (buffer, path) = argument.split_once(' ').ok_or("no path")?;
    let bytes = buffer.parse()?;
    Ok(DB::open(path, Options { write_buffer_size: bytes, max_file_size: bytes, ..Options::default() })?)
}

fn run(open_db: &mut Option<DB>, command: &str, argument: &str) -> Result {
    if command == "open" {
        *open_db = Some(open(argument)?);
        return Ok(());
    }
    let db = open_db.as_mut().ok_or("not open")?;
    match command {
        "apply" => apply(db, argument),
        "flush" => Ok(db.flush()?),
        "compact" => Ok(db.compact_range(&[], &[0xff; 16])?),
        "dump" => dump(db, argument),
        "close" => {
            db.close()?;
            *open_db = None;
            Ok(())
        }
        _ => Err(format!("unknown command {command}").into()),
    }
}

/// The same keys, values and order as in src/workload.ts of the benchmarks.
fn random_at(seed: u32, i: u32) -> u32 {
    let mut z = seed.wrapping_mul(0x85ebca6b).wrapping_add(i.wrapping_add(1).wrapping_mul(0x9e3779b9));
    z = (z ^ z >> 16).wrapping_mul(0x21f0aaad);
    z = (z ^ z >> 15).wrapping_mul(0x735a2d97);
    z ^ z >> 15
}

fn key_at(i: u64, n: u64) -> [u8; 16] {
    let gap = 9_000_000_000_000_000 / n;
    let mut number = i * gap + 2 * (u64::from(random_at(1, i as u32)) % (gap / 2));
    let mut key = [0; 16];
    for digit in key.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    key
}

/// One after another in one array, as in src/workload.ts.
fn all_values() -> Vec<u8> {
    (0..10_000).flat_map(|i| (0..100).map(move |j| random_at(2, i * 100 + j % 50) as u8)).collect()
}

fn walk(db: &mut DB, limit: u64) -> std::result::Result<u32, Box<dyn Error>> {
    let mut sum = 0u32;
    let mut iterator = db.new_iter()?;
    for _ in 0..limit {
        let Some((key, value)) = iterator.next() else { break };
        sum = sum.wrapping_add(u32::from(key[15]) + u32::from(value[0]));
    }
    Ok(sum)
}

fn get(db: &mut DB, count: u64, n: u64) -> u32 {
    (0..count).fold(0u32, |sum, i| sum.wrapping_add(u32::from(db.get(&key_at(u64::from(random_at(3, i as u32)) % n, n)).expect("a present key")[0])))
}

/// Prints microseconds of processor time, KiB of peak memory, and a sum over the entries that were read.
fn job(name: &str, path: &str, n: u64) -> Result {
    let mut db = DB::open(path, Options { compressor: SnappyCompressor::ID, ..Options::default() })?;
    // Making them takes time.
    let values = if name.starts_with("fill") { all_values() } else { Vec::new() };
    let value_of = |i: u64| &values[(i % 10_000) as usize * 100..][..100];
    let mut sum = 0;
    match name {
        "fill-batches" => {
            let mut batch = WriteBatch::default();
            for i in 0..n {
                let index = i * 7919 % n;
                batch.put(&key_at(index, n), value_of(index));
                if (i + 1) % 1000 == 0 || i + 1 == n {
                    db.write(std::mem::take(&mut batch), false)?;
                }
            }
        }
        "fill-random" | "fill-ordered" => {
            for i in 0..n {
                let index = if name == "fill-random" { i * 7919 % n } else { i };
                db.put(&key_at(index, n), value_of(index))?;
            }
        }
        "compact" => db.compact_range(&[], &[0xff; 16])?,
        "scan" => sum = walk(&mut db, n)?,
        "scan-first" => sum = walk(&mut db, n / 10)?,
        "get" => sum = get(&mut db, n / 10, n),
        "get-all" => sum = get(&mut db, n, n),
        "open" => {}
        _ => return Err(format!("no such job: {name}").into()),
    }
    db.close()?;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let micros = |time: libc::timeval| time.tv_sec * 1_000_000 + time.tv_usec;
    println!("{} {} {}", micros(usage.ru_utime) + micros(usage.ru_stime), usage.ru_maxrss, sum);
    Ok(())
}

fn main() {
    let args: Vec<String> = env::args().collect();
    if let [_, name, path, entries] = &args[..] {
        job(name, path, entries.parse().unwrap()).unwrap();
        return;
    }
    let mut db = None;
    for line in stdin().lock().lines() {
        let line = line.unwrap();
        let (command, argument) = line.split_once(' ').unwrap_or((&line, ""));
        match run(&mut db, command, argument) {
            Ok(()) => println!("ok"),
            Err(error) => println!("error {}", error.to_string().replace('\n', " ")),
        }
    }
}
