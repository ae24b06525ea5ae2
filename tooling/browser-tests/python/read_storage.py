"""Prints what a Python reader finds in a folder of a browser, a JSON line for each record or item.

    read_storage.py dfindexeddb FOLDER           records of IndexedDB
    read_storage.py chromium-reader FOLDER       the same
    read_storage.py chromium-values FOLDER       the same values by the decoder of chromium-reader: dfindexeddb finds the records
    read_storage.py chromium-local FOLDER        items of Local Storage
    read_storage.py chromium-session FOLDER      items of Session Storage

A line has the sequence and either the key and the value, in the form that `comparable-value.ts` describes, or the error of the reader.
"""

import contextlib
import dataclasses
import datetime
import json
import math
import os
import pathlib
import struct
import sys


def number(value):
    if isinstance(value, float):
        if math.isnan(value):
            return ["double", "nan"]
        if not value.is_integer() or math.copysign(1, value) < 0 and value == 0:
            return ["double", struct.pack(">d", value).hex()]
    return ["whole", str(int(value))]


def milliseconds(date):
    if date.tzinfo is None:
        date = date.replace(tzinfo=datetime.timezone.utc)
    return ["date", str(round((date - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) / datetime.timedelta(milliseconds=1)))]


def name_of(key, path):
    """A key of an object or a Map: readers have one type for both."""
    if isinstance(key, str):
        return key
    if isinstance(key, int) and not isinstance(key, bool):
        return str(key)
    return json.dumps(normal(key, path), sort_keys=True)


def entries(mapping, path):
    return sorted([name_of(key, path), normal(value, path)] for key, value in mapping.items())


def normal(value, path=()):
    kind = type(value).__name__
    if value is None or kind == "Null":
        return ["null"]
    if kind == "Undefined":
        return ["undefined"]
    if isinstance(value, bool):
        return ["boolean", value]
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, str):
        return ["text", value]
    if isinstance(value, datetime.datetime):
        return milliseconds(value)
    if isinstance(value, bytes):
        return ["bytes", value.hex()]
    if id(value) in path:
        return ["cycle"]
    path = (*path, id(value))
    if isinstance(value, dict):
        return ["object", entries(value, path)]
    if isinstance(value, (set, frozenset)):
        return ["set", sorted((normal(element, path) for element in value), key=json.dumps)]
    if isinstance(value, list):
        return ["array", [normal(element, path) for element in value], []]
    if kind == "JSArray":
        values = list(value.values)
        others = {}
        for key, element in value.properties.items():
            if isinstance(key, int) and key < len(values):
                values[key] = element
            else:
                others[key] = element
        return ["array", [normal(element, path) for element in values], entries(others, path)]
    if kind == "RegExp":
        return ["pattern", value.pattern, str(value.flags)]
    if kind == "RegExpValue":
        return ["pattern", value.pattern, str(value.flags)]
    if kind == "ArrayBufferView":
        return ["view", chr(value.tag), value.offset, value.length, normal(value.buffer, path)]
    if kind == "TypedArrayView":
        return ["view", chr(value.view_type), value.byte_offset, value.byte_length, ["bytes", value.backing.hex()]]
    if dataclasses.is_dataclass(value):
        return ["host", kind]
    raise TypeError(f"no form for {kind}")


def attempt(sequence, read):
    try:
        key, value = read()
        return {"sequence": sequence, "key": normal(key), "value": normal(value)}
    except Exception as error:  # What a reader raises is what is compared.
        return {"sequence": sequence, "error": f"{type(error).__name__}: {error}"[:200]}


def is_record(key):
    """Whether a key is in the part of an object store that holds its records, by its prefix alone."""
    if not key:
        return False
    sizes = (key[0] >> 5) + 1, ((key[0] >> 2) & 7) + 1, (key[0] & 3) + 1
    ids, position = [], 1
    for size in sizes:
        ids.append(int.from_bytes(key[position : position + size], "little"))
        position += size
    return ids[0] > 0 and ids[1] > 0 and ids[2] == 1


def raw_records(folder):
    from dfindexeddb.indexeddb.chromium import record as indexed_db
    from dfindexeddb.leveldb import record as leveldb

    for found in leveldb.FolderReader(pathlib.Path(folder)).GetRecords():
        inner = found.record
        if inner.record_type != 1 or not is_record(inner.key):
            continue
        try:
            yield inner.sequence_number, indexed_db.IndexedDbKey.FromBytes(inner.key), None, inner
        except Exception as error:
            yield inner.sequence_number, None, error, inner


def dfindexeddb(folder):
    for sequence, key, error, inner in raw_records(folder):

        def read():
            if error is not None:
                raise error
            return plain_key(key.encoded_user_key.value), unwrapped(key.ParseValue(inner.value))

        yield attempt(sequence, read)


def plain_key(value):
    return [plain_key(getattr(element, "value", element)) for element in value] if isinstance(value, list) else value


def unwrapped(value):
    if value.blob_size is not None:
        raise LookupError("the value is in a blob")
    return value.value


def chromium_values(folder):
    from chromium_reader._blink_deserializer import deserialize

    for sequence, key, error, inner in raw_records(folder):
        position = 0
        while inner.value[position] & 0x80:
            position += 1

        def read():
            return None, deserialize(inner.value[position + 1 :])[0]

        yield attempt(sequence, read)


def chromium_reader(folder):
    from chromium_reader import IndexedDbReader

    with IndexedDbReader(folder) as reader:
        for record in reader.records(skip_undecodable=False):
            yield attempt(record.leveldb_seq_number, lambda record=record: (None, record.value))


def chromium_items(reader_class, folder):
    with reader_class(folder) as reader:
        for item in reader.records(include_deletions=True):
            yield attempt(item.leveldb_seq_number, lambda item=item: (item.script_key, item.value))


def main(reader, folder):
    if reader == "chromium-local":
        from chromium_reader import LocalStorageReader

        found = chromium_items(LocalStorageReader, folder)
    elif reader == "chromium-session":
        from chromium_reader import SessionStorageReader

        found = chromium_items(SessionStorageReader, folder)
    else:
        found = {"dfindexeddb": dfindexeddb, "chromium-reader": chromium_reader, "chromium-values": chromium_values}[reader](folder)
    # The readers print to standard output too.
    out = os.fdopen(os.dup(1), "w")
    with contextlib.redirect_stdout(sys.stderr):
        for line in found:
            out.write(json.dumps(line) + "\n")
    out.close()


main(*sys.argv[1:])
