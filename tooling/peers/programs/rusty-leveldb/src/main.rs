//! Runs rusty-leveldb, as src/peer.ts describes.

use rusty_leveldb::{LdbIterator, Options, DB};
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

fn main() {
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
