#!/usr/bin/env bash
# Versions: rocksdict 0.3.29, which contains RocksDB 9.8.4.
#
# Expected: keys that are floats are ordered as numbers, so that keys(from_key=x) returns the keys from x on, as it does for integers, negative
# ones included. An iteration with `from_key` begins there, or at the first key after it if there is no such key. delete_range deletes what
# is in the range, up to its end.
#
# Actual: negative floats come after all others, in reverse order. keys(from_key=-3.0) returns -3.0 and the smaller -20.5, and none of the
# larger keys, without an error. delete_range(-1.0, 1.0) is refused, because its end comes before its start, and delete_range(1.0, -10.0), an
# empty range, deletes four keys. A key has the eight bytes of the number as they are, and RocksDB compares bytes, the one with the
# sign first.
#
#   integers: [-20, -3, 0, 15, 22]
#   integers from -3: [-3, 0, 15, 22]
#   floats: [0.0, 15.0, 22.5, -0.5, -3.0, -20.5]
#   floats from -3.0: [-3.0, -20.5]
#   floats from 1.0: [15.0, 22.5, -0.5, -3.0, -20.5]
#   floats after delete_range(1.0, -10.0): [0.0, -20.5]
#   delete_range(-1.0, 1.0): Invalid argument: end key comes before start key
#
# Needs: Python 3 with pip.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check rocksdict==0.3.29

cat > finding.py <<'PYTHON'
from rocksdict import Rdict

integers = Rdict("integers")
for key in [-20, -3, 0, 15, 22]:
    integers[key] = "value"
print("integers:", list(integers.keys()))
print("integers from -3:", list(integers.keys(from_key=-3)))
floats = Rdict("floats")
for key in [-20.5, -3.0, -0.5, 0.0, 15.0, 22.5]:
    floats[key] = "value"
print("floats:", list(floats.keys()))
print("floats from -3.0:", list(floats.keys(from_key=-3.0)))
print("floats from 1.0:", list(floats.keys(from_key=1.0)))
floats.delete_range(1.0, -10.0)
print("floats after delete_range(1.0, -10.0):", list(floats.keys()))
try:
    floats.delete_range(-1.0, 1.0)
except Exception as error:
    print("delete_range(-1.0, 1.0):", error)
PYTHON

python/bin/python finding.py | tee seen
diff - seen <<'EXPECTED'
integers: [-20, -3, 0, 15, 22]
integers from -3: [-3, 0, 15, 22]
floats: [0.0, 15.0, 22.5, -0.5, -3.0, -20.5]
floats from -3.0: [-3.0, -20.5]
floats from 1.0: [15.0, 22.5, -0.5, -3.0, -20.5]
floats after delete_range(1.0, -10.0): [0.0, -20.5]
delete_range(-1.0, 1.0): Invalid argument: end key comes before start key
EXPECTED
