import { join } from 'node:path';
import { exampleSuite } from '@bloom/fixtures/example-suite';

exampleSuite({
  root: join(import.meta.dirname, '../..'),
  atLeast: 2,
  printedBy: (code) => (code.includes('console.log') ? 'b 2\nc 3\n' : undefined),
});
