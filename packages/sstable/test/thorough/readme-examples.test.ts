import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { goldenDatabases } from '@bloom/fixtures';
import { exampleSuite } from '@bloom/fixtures/example-suite';

const root = join(import.meta.dirname, '../..');

exampleSuite({
  root,
  atLeast: 6,
  prepare(folder) {
    cpSync(goldenDatabases().find(({ name }) => name === 'levels')!.path, join(folder, 'path/to/database'), { recursive: true });
    // A package that uses this one, and is none of its dependencies.
    mkdirSync(join(folder, 'node_modules/@bloom'), { recursive: true });
    symlinkSync(join(root, '../policy-blocked'), join(folder, 'node_modules/@bloom/policy-blocked'));
  },
});
