import type { ProgramSource } from './program.js';

/** A program that is linked with LevelDB. */
export function leveldbProgram(name: 'leveldb-table' | 'leveldb-database'): ProgramSource {
  return {
    name,
    // A static LevelDB does not include Snappy.
    libraries: [
      ['-lleveldb', '-pthread'],
      ['-lleveldb', '-lsnappy', '-pthread'],
    ],
    probe: `#include <leveldb/table_builder.h>
#include <leveldb/options.h>
int main() { leveldb::Options options; return 0; }
`,
    check: ['version'],
  };
}
