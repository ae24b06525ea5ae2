#!/usr/bin/env bash
# Versions: iq80's LevelDB in Java, org.iq80.leveldb:leveldb 0.12; plyvel 1.5.1, which contains LevelDB 1.22 (C++).
#
# Expected: reads with a snapshot return the values at the time of the snapshot until it is closed, whatever is written later.
#
# Actual: once later writes have been compacted, they return values from before the snapshot, or nothing, without an error. The port's
# compactions do not consider open snapshots, and drop every value for which they see a newer one. If a lower level has
# an even older value that is not part of the compaction, the snapshot finds this value. Reads without a
# snapshot are right, and so are all reads until the first such compaction, so a test with few writes does not notice it.
#
# 1000 keys are put with the value “first”, then with “second”, then a snapshot is taken, and then they are put 20 times with “later”.
# Here, 551 keys have the value “first” afterwards, and 449 are missing.
#
#   LevelDB's snapshot: 1000 keys are second
#   iq80's snapshot, before the later puts: 1000 keys are second
#   iq80's snapshot, after the later puts: 0 keys are second, some are first, some are missing
#   iq80's database, without a snapshot: 1000 keys are later
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
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.iq80.leveldb.CompressionType;
import org.iq80.leveldb.DB;
import org.iq80.leveldb.Options;
import org.iq80.leveldb.ReadOptions;
import org.iq80.leveldb.Snapshot;
import org.iq80.leveldb.impl.Iq80DBFactory;

public class Finding {
    static final File FOLDER = new File("database");
    static final int KEYS = 1000;

    static byte[] key(int i) {
        return String.format("key%03d", i).getBytes();
    }

    /** Puts the word, with 100 spaces behind it, under every key. */
    static void putAll(DB db, String word) {
        for (int i = 0; i < KEYS; i++) {
            db.put(key(i), (word + " ".repeat(100)).getBytes());
        }
    }

    /** The number of keys with each word. */
    static Map<String, Integer> words(DB db, ReadOptions options) {
        Map<String, Integer> counts = new TreeMap<>();
        for (int i = 0; i < KEYS; i++) {
            byte[] value = db.get(key(i), options);
            counts.merge(value == null ? "missing" : new String(value).trim(), 1, Integer::sum);
        }
        return counts;
    }

    /** Returns when the files have not changed for two seconds. */
    static void awaitCompactions() throws InterruptedException {
        Set<String> files;
        do {
            files = Set.of(FOLDER.list());
            Thread.sleep(2000);
        } while (!files.equals(Set.of(FOLDER.list())));
    }

    static String some(Map<String, Integer> words, String word) {
        return words.containsKey(word) ? "some" : "none";
    }

    public static void main(String[] arguments) throws Exception {
        Options options = new Options().writeBufferSize(1 << 16).compressionType(CompressionType.NONE);
        try (DB db = Iq80DBFactory.factory.open(FOLDER, options)) {
            putAll(db, "first");
            putAll(db, "second");
            try (Snapshot snapshot = db.getSnapshot()) {
                ReadOptions atSnapshot = new ReadOptions().snapshot(snapshot);
                System.out.println("iq80's snapshot, before the later puts: " + words(db, atSnapshot).get("second") + " keys are second");
                for (int i = 0; i < 20; i++) {
                    putAll(db, "later");
                }
                awaitCompactions();
                Map<String, Integer> words = words(db, atSnapshot);
                System.out.println("iq80's snapshot, after the later puts: " + words.getOrDefault("second", 0) + " keys are second, "
                    + some(words, "first") + " are first, " + some(words, "missing") + " are missing");
                System.out.println("iq80's database, without a snapshot: " + words(db, new ReadOptions()).get("later") + " keys are later");
            }
        }
    }
}
JAVA

cat > with_leveldb.py <<'PYTHON'
import plyvel

KEYS = [b"key%03d" % i for i in range(1000)]


def put_all(db, word):
    for key in KEYS:
        db.put(key, word.ljust(100))


with plyvel.DB("with-leveldb", create_if_missing=True, write_buffer_size=1 << 16) as db:
    put_all(db, b"first")
    put_all(db, b"second")
    with db.snapshot() as snapshot:
        for _ in range(20):
            put_all(db, b"later")
        db.compact_range(start=KEYS[0], stop=KEYS[-1])
        print("LevelDB's snapshot:", sum(snapshot.get(key).strip() == b"second" for key in KEYS), "keys are second")
PYTHON

{
  python/bin/python with_leveldb.py
  java -cp 'jars/*' Finding.java
} | tee seen
diff - seen <<'EXPECTED'
LevelDB's snapshot: 1000 keys are second
iq80's snapshot, before the later puts: 1000 keys are second
iq80's snapshot, after the later puts: 0 keys are second, some are first, some are missing
iq80's database, without a snapshot: 1000 keys are later
EXPECTED
