"""The recipe with the wrong order: that of Java's strings, which is not that of bytes."""

import sys

from pyspark import SparkContext

sys.path.insert(0, sys.argv[1])
import publish as recipe  # noqa: E402

context = SparkContext.getOrCreate()
context.addPyFile(sys.argv[1] + "/publish.py")
pairs = context.parallelize([(text.encode(), b"") for text in ["a", "\uff5e", "\U0001f600", "z"]])
order = (lambda key: key.decode().encode("utf-16-be")) if sys.argv[3] == "java" else (lambda key: key)
print("".join(recipe.part_lines(pairs, [], ["--sequence", "1", "-o", sys.argv[2]], order)), end="")
