#!/usr/bin/env bash
# Versions: iq80's LevelDB in Java, org.iq80.leveldb:leveldb 0.12; plyvel 1.5.1, which contains LevelDB 1.22 (C++).
#
# Expected: the Java port writes LevelDB's format, so that LevelDB reads a database that it has closed.
#
# Actual: LevelDB reads it only until the first compaction. For every table made by a compaction, the port's MANIFEST has a length
# that is 4 bytes larger than the file; tables made from the log have the right length. The port itself does not use
# the length. LevelDB looks for the footer where the file should end according to the MANIFEST, so it opens the database,
# but cannot read these tables. repair_db takes the lengths from the files, and finds every entry.
#
#   iq80's LevelDB: 1000 of 1000 keys
#   length in the MANIFEST less that of the file, at most: 4
#   LevelDB: cannot read a table that is 4 bytes shorter
#   LevelDB after repair_db: 1000 of 1000 keys
#
# Needs: a JDK (11 or later), Maven, Python 3 with pip.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check plyvel==1.5.1

cat > pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId>
  <artifactId>finding</artifactId>
  <version>0</version>
  <dependencies>
    <dependency>
      <groupId>org.iq80.leveldb</groupId>
      <artifactId>leveldb</artifactId>
      <version>0.12</version>
    </dependency>
  </dependencies>
</project>
XML
mvn --quiet --batch-mode org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies -DoutputDirectory=jars > mvn.log 2>&1 ||
  { cat mvn.log >&2; exit 1; }

cat > Finding.java <<'JAVA'
import java.io.File;
import org.iq80.leveldb.CompressionType;
import org.iq80.leveldb.DB;
import org.iq80.leveldb.DBIterator;
import org.iq80.leveldb.Options;
import org.iq80.leveldb.impl.Iq80DBFactory;

/** Puts the same 1,000 keys 20 times, in about 40 write buffers, and closes; then opens again and counts the keys. */
public class Finding {
    public static void main(String[] arguments) throws Exception {
        File folder = new File("database");
        Options options = new Options().writeBufferSize(1 << 16).compressionType(CompressionType.NONE);
        try (DB db = Iq80DBFactory.factory.open(folder, options)) {
            for (int i = 0; i < 20_000; i++) {
                db.put(String.format("key%03d", i % 1000).getBytes(), new byte[100]);
            }
        }
        int count = 0;
        try (DB db = Iq80DBFactory.factory.open(folder, options); DBIterator entries = db.iterator()) {
            for (entries.seekToFirst(); entries.hasNext(); entries.next()) {
                count++;
            }
        }
        System.out.println("iq80's LevelDB: " + count + " of 1000 keys");
    }
}
JAVA

cat > finding.py <<'PYTHON'
import pathlib
import re

import plyvel

folder = pathlib.Path("database")
db = plyvel.DB(str(folder))
# Lines " NUMBER:LENGTH[...]", as the MANIFEST has them.
tables = re.findall(rb"^ (\d+):(\d+)\[", db.get_property(b"leveldb.sstables"), re.MULTILINE)
assert tables
excess = {int(length) - (folder / f"{int(number):06}.sst").stat().st_size for number, length in tables}
assert excess <= {0, 4}
print("length in the MANIFEST less that of the file, at most:", max(excess))
try:
    print("LevelDB:", len(list(db)), "of 1000 keys")
except plyvel.Error:
    print("LevelDB: cannot read a table that is 4 bytes shorter")
db.close()

plyvel.repair_db(str(folder))
with plyvel.DB(str(folder)) as db:
    print("LevelDB after repair_db:", len(list(db)), "of 1000 keys")
PYTHON

{
  java -cp 'jars/*' Finding.java
  python/bin/python finding.py
} | tee seen
diff - seen <<'EXPECTED'
iq80's LevelDB: 1000 of 1000 keys
length in the MANIFEST less that of the file, at most: 4
LevelDB: cannot read a table that is 4 bytes shorter
LevelDB after repair_db: 1000 of 1000 keys
EXPECTED
