"""Publishes the entries of text files, key, TAB and value on a line, as a database.

    spark-submit publish.py --sequence 1 --parts PARTS --store STORE INPUT...

PARTS and STORE are folders that all executors can write to, or s3://BUCKET/PREFIX. Keys and values are bytes, as they are
in the files. Each key must be there once.
"""

import argparse
import bisect
import os
import shlex
import struct
import subprocess
import threading

from pyspark import SparkConf, SparkContext

BLOOM = shlex.split(os.environ.get("BLOOM", "bloom"))
SAMPLED_KEYS = 100_000


def entries(context, paths):
    """The entries of text files, as pairs of bytes. Text would be decoded, and bytes that are not UTF-8 replaced."""
    lines = context.union([context.textFile(path, use_unicode=False) for path in paths])

    def entry(line):
        key, tab, value = line.partition(b"\t")
        if not tab:
            raise ValueError(f"a line has no TAB between key and value: {line[:100]!r}")
        return key, value

    return lines.map(entry)


def sampled_cuts(pairs, ranges):
    """Where to cut the keys into ranges of about the same number of entries."""
    sample = sorted(pairs.keys().takeSample(False, SAMPLED_KEYS, seed=1))
    return sorted({sample[len(sample) * i // ranges] for i in range(1, ranges)}) if sample else []


def part_lines(pairs, cuts, arguments, order=lambda key: key):
    """Sorts each range of keys, and makes parts of it. The result is the descriptions of the parts, one for each range.

    Python compares bytes as LevelDB does. The order of Java's strings is another one, that of UTF-16: bloom refuses it.
    """
    sorted_pairs = pairs.repartitionAndSortWithinPartitions(
        numPartitions=len(cuts) + 1, partitionFunc=lambda key: bisect.bisect_right(cuts, key), keyfunc=order
    )
    return sorted_pairs.mapPartitions(lambda partition: [parts_of(partition, arguments)]).collect()


def parts_of(partition, arguments):
    """Hands the entries of a range to bloom. A task that runs again, or twice at once, makes the same parts."""
    command = BLOOM + ["bulk", "part", "-", "-f", "kv", "-q", *arguments]
    bloom = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    broken = []

    def feed():
        try:
            for key, value in partition:
                bloom.stdin.write(struct.pack("<I", len(key)) + key + struct.pack("<I", len(value)) + value)
            bloom.stdin.close()
        except BrokenPipeError:
            pass  # It has ended, and says why.
        except BaseException as error:
            # Without this, what came before would look like all there is.
            broken.append(error)
            bloom.kill()

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    stderr = []
    listener = threading.Thread(target=lambda: stderr.append(bloom.stderr.read()), daemon=True)
    listener.start()
    descriptions = bloom.stdout.read().decode()
    status = bloom.wait()
    feeder.join()
    listener.join()
    if broken:
        raise broken[0]
    if status != 0:
        raise RuntimeError(f"bloom bulk part ended with {status}: {stderr[0].decode(errors='replace').strip()}")
    return descriptions


def publish(descriptions, parts, store):
    """Assembles parts on what is published, and publishes them."""
    assembly = subprocess.run(
        BLOOM + ["bulk", "assemble", parts, "-", "--previous", store], input="".join(descriptions).encode(), stdout=subprocess.PIPE, check=True
    )
    return subprocess.run(BLOOM + ["bulk", "publish", "-", parts, store], input=assembly.stdout, stdout=subprocess.PIPE, check=True).stdout.decode()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("--sequence", required=True)
    parser.add_argument("--parts", required=True)
    parser.add_argument("--store", required=True)
    parser.add_argument("--ranges", type=int, default=16)
    parser.add_argument("--cuts", help="a file with the keys at which to cut, in hexadecimal, as bloom bulk split prints them")
    parser.add_argument("--part-options", default="", help="further options of bloom bulk part")
    options = parser.parse_args()
    # By default, Hadoop also ends a line at a carriage return, which a value may contain.
    context = SparkContext.getOrCreate(SparkConf().set("spark.hadoop.textinputformat.record.delimiter", "\n"))
    pairs = entries(context, options.inputs)
    if options.cuts:
        with open(options.cuts) as lines:
            cuts = [bytes.fromhex(line) for line in lines.read().split()]
    else:
        cuts = sampled_cuts(pairs, options.ranges)
    arguments = ["--sequence", options.sequence, "-o", options.parts, *shlex.split(options.part_options)]
    print(publish(part_lines(pairs, cuts, arguments), options.parts, options.store), end="")
    context.stop()


if __name__ == "__main__":
    main()
