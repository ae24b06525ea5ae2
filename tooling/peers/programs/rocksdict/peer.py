"""Runs RocksDB, as src/peer.ts describes."""

import sys

from rocksdict import DBCompressionType, Options, Rdict

db = None


def bytes_of(token):
    return bytes.fromhex(token[1:])


def apply(path):
    with open(path) as lines:
        for line in lines:
            operation, key, *value = line.split()
            if operation == "put":
                db[bytes_of(key)] = bytes_of(value[0])
            else:
                db.delete(bytes_of(key))


def dump(path):
    with open(path, "w") as out:
        for key, value in db.items():
            out.write(f"x{key.hex()} x{value.hex()}\n")


def run(command, argument):
    global db
    if command == "open":
        buffer, path = argument.split(" ", 1)
        options = Options(raw_mode=True)
        options.create_if_missing(True)
        options.set_write_buffer_size(int(buffer))
        options.set_compression_type(DBCompressionType.none())
        db = Rdict(path, options)
    elif command == "apply":
        apply(argument)
    elif command == "flush":
        db.flush()
    elif command == "compact":
        db.compact_range(None, None)
    elif command == "dump":
        dump(argument)
    elif command == "close":
        db.close()
    else:
        raise ValueError(f"unknown command {command}")


for line in sys.stdin:
    command, _, argument = line.rstrip("\n").partition(" ")
    try:
        run(command, argument)
        print("ok", flush=True)
    except Exception as error:
        print("error", str(error).replace("\n", " "), flush=True)
