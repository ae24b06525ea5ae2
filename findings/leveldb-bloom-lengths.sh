#!/bin/sh
# Versions: plyvel 1.5.1, which contains LevelDB 1.22 (C++), with LevelDB's own filter policy at 10 bits per key.
#
# Expected: filters with 10 bits per key let about 1% of the absent keys pass.
#
# Actual: with some numbers of keys in a filter, most absent numbers between stored numbers pass: of numbers of 16 digits, more than half
# pass filters of 19 and of 38 keys, but 3% pass those of 39. Filters of 2 to 6 keys have 64 bits, LevelDB's minimum, and every absent
# key of 16 bytes that differs from a stored one only in its last byte passes, even if the stored keys are random.
#
# All probes of a key come from one 32-bit hash and a step, which is the hash with its bits rotated. The last byte of a key whose length is
# a multiple of four changes bits 8 to 15 and 24 to 31 of the hash, so it changes the hash by a multiple of 256 and the step by a multiple
# of 128. Modulo 64 bits (2 to 6 keys) the difference is 0. Modulo 192 and 384 bits (19 and 38 keys, whose 190 and 380 bits are rounded up
# to whole bytes) each probe has only 3 or 6 possible positions. 39 keys get 392 bits, an odd number of bytes.
#
#   plyvel 1.5.1 with LevelDB 1.22
#     2 keys in a filter, numbers between stored ones: 100.0% read a block
#     4 keys in a filter, numbers between stored ones: 100.0% read a block
#     6 keys in a filter, numbers between stored ones: 100.0% read a block
#    19 keys in a filter, numbers between stored ones:  56.7% read a block
#    38 keys in a filter, numbers between stored ones:  59.9% read a block
#    39 keys in a filter, numbers between stored ones:   3.2% read a block
#     2 keys in a filter, random keys with another last byte: 100.0% read a block
#     6 keys in a filter, random keys with another last byte: 100.0% read a block
#    19 keys in a filter, unrelated random keys:   1.1% read a block
#    38 keys in a filter, unrelated random keys:   1.1% read a block
#
# (To count reads, the script writes and compacts a database, then overwrites the values in its tables, so that no data block matches its
# checksum. With verify_checksums, a lookup of an absent key fails if LevelDB reads a block, and returns nothing if the filter stops it.
# Blocks are uncompressed, have a fixed number of keys, and are longer than 2 KiB, so each has a filter of its own.)
#
# Needs: Python 3 with pip.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet --disable-pip-version-check plyvel==1.5.1
cat > "$folder/count_reads.py" <<'PYTHON'
import hashlib
import pathlib
import sys

import plyvel

BLOCK_BYTES = 4096
BLOCKS = 300


def numbers(count):
    """Even numbers to store, and the odd number after each."""
    return [(b'%016d' % i, b'%016d' % (i + 1)) for i in range(0, 2 * count, 2)]


def random_key(i):
    return hashlib.sha256(b'%d' % i).hexdigest()[:16].encode()


def last_bytes(count):
    """Random keys, and the same with another last byte."""
    return [(key, key[:-1] + b'z') for key in sorted(map(random_key, range(count)))]


def unrelated(count):
    """Random keys, and their next neighbours among others, which share only their first bytes."""
    keys = sorted(map(random_key, range(2 * count)))
    return list(zip(keys[::2], keys[1::2]))


def share_read(path, pairs, keys_in_filter):
    """The share of absent keys for which LevelDB reads a block."""
    # A block ends with the entry that takes it to BLOCK_BYTES. With a restart at each entry, all entries take 31 or 32 bytes more than
    # their value.
    value = b'v' * (int(BLOCK_BYTES / (keys_in_filter - 0.5)) - 32)
    options = dict(bloom_filter_bits=10, compression=None, block_size=BLOCK_BYTES, block_restart_interval=1)
    database = plyvel.DB(path, create_if_missing=True, **options)
    for key, _ in pairs:
        database.put(key, value)
    database.compact_range()
    database.close()
    for table in pathlib.Path(path).glob('*.ldb'):
        data = table.read_bytes()
        table.write_bytes(data.replace(value, b'w' * len(value)))
    database = plyvel.DB(path, **options)
    reads = asked = 0
    for i, (_, absent) in enumerate(pairs):
        # Behind the last key of a block, the next block and its filter may be meant.
        if i % keys_in_filter == keys_in_filter - 1:
            continue
        asked += 1
        try:
            assert database.get(absent, verify_checksums=True) is None
        except plyvel.CorruptionError:
            reads += 1
    database.close()
    return reads / asked


print('plyvel', plyvel.__version__, 'with LevelDB', plyvel.__leveldb_version__)
failures = 0
for what, keys_of, keys, least, most in [
    ('numbers between stored ones', numbers, 2, 1, 1),
    ('numbers between stored ones', numbers, 4, 1, 1),
    ('numbers between stored ones', numbers, 6, 1, 1),
    ('numbers between stored ones', numbers, 19, 0.5, 1),
    ('numbers between stored ones', numbers, 38, 0.5, 1),
    ('numbers between stored ones', numbers, 39, 0, 0.06),
    ('random keys with another last byte', last_bytes, 2, 1, 1),
    ('random keys with another last byte', last_bytes, 6, 1, 1),
    ('unrelated random keys', unrelated, 19, 0.005, 0.02),
    ('unrelated random keys', unrelated, 38, 0.005, 0.02),
]:
    share = share_read(f'{sys.argv[1]}/{keys_of.__name__}-{keys}', keys_of(BLOCKS * keys), keys)
    as_before = least <= share <= most
    failures += not as_before
    print(f'{keys:3} keys in a filter, {what}: {share:6.1%} read a block' + ('' if as_before else f'; expected {least:.1%} to {most:.1%}'))
sys.exit(1 if failures else 0)
PYTHON
"$folder/python/bin/python" "$folder/count_reads.py" "$folder"
