import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { goldenDatabases } from '@bloom/fixtures';
import { exampleSuite } from '@bloom/fixtures/example-suite';

exampleSuite({
  root: join(import.meta.dirname, '../..'),
  atLeast: 4,
  prepare(folder) {
    cpSync(goldenDatabases().find(({ name }) => name === 'levels')!.path, join(folder, 'path/to/database'), { recursive: true });
  },
  // The first says what it prints.
  printedBy: (code) => (code.includes("put('hello'") ? "{ to: 'world' }\na 1\nb 2\n" : undefined),
});
