"""Reads all records of a folder of IndexedDB with their values, and prints their number and the processor time in seconds.

    time_records.py dfindexeddb|chromium-reader FOLDER
"""

import contextlib
import os
import pathlib
import sys
import time


def dfindexeddb(folder):
    from dfindexeddb.indexeddb.chromium import record

    start = time.process_time()
    count = sum(1 for found in record.FolderReader(pathlib.Path(folder)).GetRecords() if type(found.value).__name__ == "ObjectStoreDataValue")
    return count, time.process_time() - start


def chromium_reader(folder):
    # Its class for IndexedDB finds no records, so that its parts are called as that class would call them.
    from chromium_reader._blink_deserializer import deserialize
    from chromium_reader.leveldb import RawLevelDb

    start = time.process_time()
    count = 0
    database = RawLevelDb(pathlib.Path(folder))
    for record in database.iterate_records_raw():
        if record.user_key[:4] == b"\x00\x01\x01\x01":
            deserialize(record.value[1:])
            count += 1
    database.close()
    return count, time.process_time() - start


reader, folder = sys.argv[1:]
with contextlib.redirect_stdout(sys.stderr):
    figures = {"dfindexeddb": dfindexeddb, "chromium-reader": chromium_reader}[reader](folder)
os.write(1, b"%d %f\n" % figures)
