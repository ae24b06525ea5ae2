/** How to check for an error, and code that fixes it. */
interface ErrorHelp {
  /** A command. */
  readonly check?: string;
  /** A program, which the tests run. */
  readonly fix?: string;
}

const NODE = "import { WritableNodeFolder } from '@bloom/leveldb/node';\n\n";

/** Writes a new table with everything that can still be read. */
const SALVAGE = `import { salvagedEntries } from '@bloom/sstable/inspect';
import { FileSource, writeTable } from '@bloom/sstable/node';

const source = await FileSource.open('words.ldb');
await writeTable('saved.ldb', salvagedEntries(source));
await source.close();
`;

/** Rebuilds a database from everything that can still be read. */
const REPAIR = `import { Database } from '@bloom/leveldb';
${NODE}const folder = new WritableNodeFolder('words.db');
const { lost, setAside } = await Database.repair(folder);
console.log(lost.length, 'ranges lost', setAside.length, 'files set aside');
`;

const READ = `import { DatabaseReader } from '@bloom/leveldb';
import { NodeFolder } from '@bloom/leveldb/node';

// A reader takes no lock.
const reader = await DatabaseReader.open(new NodeFolder('path/to/database'));
console.log(await reader.has(new TextEncoder().encode('hello')));
await reader.close();
`;

const REFRESH = READ.replace('// A reader takes no lock.\n', '').replace('console.log(', "// After BLOOM_FOLDER_CHANGED:\nawait reader.refresh();\nconsole.log(");

const SKIP = `import { Database } from '@bloom/leveldb';
${NODE}const folder = new WritableNodeFolder('words.db');
const database = await Database.open(folder, { damage: 'skip' });
console.log(database.describe().dropped);
await database.close();
`;

const COMPARATORS = `import { DatabaseReader } from '@bloom/leveldb';
import { idbComparator } from '@bloom/leveldb/idb-comparator';
import { NodeFolder } from '@bloom/leveldb/node';

const folder = new NodeFolder('https_example.org_0.indexeddb.leveldb');
const options = { comparators: [idbComparator] };
const reader = await DatabaseReader.open(folder, options);
await reader.close();
`;

const CODECS = `import { mojangCodecs } from '@bloom/codecs';
import { DatabaseReader } from '@bloom/leveldb';
import { NodeFolder } from '@bloom/leveldb/node';

const folder = new NodeFolder('world/db');
const reader = await DatabaseReader.open(folder, { codecs: mojangCodecs });
await reader.close();
`;

const LARGER = `import { DatabaseReader } from '@bloom/leveldb';
import { NodeFolder } from '@bloom/leveldb/node';

const folder = new NodeFolder('path/to/database');
const reader = await DatabaseReader.open(folder, { maxBlockBytes: 2 ** 30 });
await reader.close();
`;

const REOPEN = `import { Database } from '@bloom/leveldb';
${NODE}let database = await Database.open(new WritableNodeFolder('words.db'));
// After BLOOM_WRITING_ENDED:
await database.close();
database = await Database.open(new WritableNodeFolder('words.db'));
await database.close();
`;

const LENGTH = `import { Table } from '@bloom/sstable';
import { HttpSource } from '@bloom/sstable/http';

const options = { retries: 5, stallMs: 60_000 };
const source = await HttpSource.open('https://example.com/words.ldb', options);
const table = await Table.open(source);
console.log(table.blockCount);
await table.close();
await source.close();
`;

const LEVEL_REPAIR = `import { BloomLevel } from '@bloom/level';

const { lost } = await BloomLevel.repair('words.db');
console.log(lost.length, 'ranges lost');
`;

const LEVEL_READ = `import { BloomLevel } from '@bloom/level';

const level = new BloomLevel('path/to/database', { readOnly: true });
console.log(await level.keys({ limit: 1 }).all());
await level.close();
`;

const VERIFY_TABLE = { check: 'bloom verify words.ldb', fix: SALVAGE };
const VERIFY_DATABASE = { check: 'bloom verify words.db', fix: REPAIR };
const SKIP_DAMAGE = { check: 'bloom verify words.db', fix: SKIP };
const REQUEST = { check: 'curl -i -r 0-9 https://example.com/words.ldb', fix: LENGTH };

/** By package and code. Codes that need no command and no code are not listed. */
export const ERROR_HELP: Readonly<Record<string, Readonly<Record<string, ErrorHelp>>>> = {
  '@bloom/sstable': {
    BLOOM_NOT_A_TABLE: { check: 'bloom stat words.ldb' },
    BLOOM_BAD_HANDLE: VERIFY_TABLE,
    BLOOM_BAD_BLOCK: VERIFY_TABLE,
    BLOOM_BAD_COMPRESSION: VERIFY_TABLE,
    BLOOM_BAD_CHECKSUM: VERIFY_TABLE,
    BLOOM_OVERLAP: VERIFY_TABLE,
    BLOOM_BAD_RESTART: VERIFY_TABLE,
    BLOOM_HTTP_STATUS: REQUEST,
    BLOOM_HTTP_NO_RANGES: { check: REQUEST.check },
    BLOOM_HTTP_ENCODED: { check: REQUEST.check },
    BLOOM_HTTP_PAGE: { check: REQUEST.check },
    BLOOM_HTTP_NO_LENGTH: { check: REQUEST.check },
    BLOOM_HTTP_STALLED: REQUEST,
    BLOOM_HTTP_FAILED: REQUEST,
  },
  '@bloom/leveldb': {
    BLOOM_BAD_CURRENT: VERIFY_DATABASE,
    BLOOM_BAD_VERSION: VERIFY_DATABASE,
    BLOOM_BAD_VERSION_EDIT: VERIFY_DATABASE,
    BLOOM_BAD_INTERNAL_KEY: VERIFY_DATABASE,
    BLOOM_BAD_CHECKSUM: VERIFY_DATABASE,
    BLOOM_MISSING_FILE: VERIFY_DATABASE,
    BLOOM_NOT_A_DATABASE: VERIFY_DATABASE,
    BLOOM_NOT_A_TABLE: VERIFY_DATABASE,
    BLOOM_TRUNCATED: VERIFY_DATABASE,
    BLOOM_BAD_LOG: SKIP_DAMAGE,
    BLOOM_BAD_WRITE_BATCH: SKIP_DAMAGE,
    BLOOM_LOCKED: { check: 'bloom stat words.db', fix: READ },
    BLOOM_NO_LOCK: { check: 'npm ls @koromix/koffi-linux-x64 fs-native-extensions', fix: READ },
    BLOOM_FOLDER_CHANGED: { fix: REFRESH },
    BLOOM_FOLDER_BUSY: { fix: READ.replace("'path/to/database'))", "'path/to/database'), { maxRestarts: 1000 })").replace('// A reader takes no lock.\n', '') },
    BLOOM_UNKNOWN_COMPARATOR: { check: 'bloom stat https_example.org_0.indexeddb.leveldb', fix: COMPARATORS },
    BLOOM_UNSUPPORTED_CODEC: { check: 'bloom stat world/db', fix: CODECS },
    BLOOM_TOO_LARGE: { fix: LARGER },
    BLOOM_WRITING_ENDED: { check: 'df -h words.db', fix: REOPEN },
  },
  '@bloom/level': {
    LEVEL_LOCKED: { check: 'bloom stat words.db', fix: LEVEL_READ },
    LEVEL_CORRUPTION: { check: 'bloom verify words.db', fix: LEVEL_REPAIR },
  },
};
