"""Runs plyvel, as src/peer.ts describes."""

import sys

import plyvel

db = None


def bytes_of(token):
    return bytes.fromhex(token[1:])


def apply(path):
    with open(path) as lines:
        for line in lines:
            operation, key, *value = line.split()
            if operation == "put":
                db.put(bytes_of(key), bytes_of(value[0]))
            else:
                db.delete(bytes_of(key))


def dump(path):
    with open(path, "w") as out, db.iterator(verify_checksums=True) as entries:
        for key, value in entries:
            out.write(f"x{key.hex()} x{value.hex()}\n")


def run(command, argument):
    global db
    if command == "open":
        buffer, path = argument.split(" ", 1)
        size = int(buffer)
        db = plyvel.DB(path, create_if_missing=True, write_buffer_size=size, max_file_size=size, bloom_filter_bits=10)
    elif command == "apply":
        apply(argument)
    elif command == "compact":
        db.compact_range()
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
