import { join } from 'node:path';
import { exampleSuite } from '@bloom/fixtures/example-suite';

exampleSuite({
  root: join(import.meta.dirname, '../..'),
  atLeast: 3,
  printedBy: (code) => (code.includes('levelsToMerge') ? '0 0 1 1 1 1 1\n' : code.includes('console.log') ? 'b 2\nc 3\n' : undefined),
});
