// A program on the built packages, which Deno and Bun run as it is: level-suite PATH [sublevels]. It runs abstract-level's suite on files,
// with `sublevels` on sublevels too, and prints what came of it as JSON.
import { join } from 'node:path';
import process from 'node:process';
import { runAbstractSuite } from '@bloom/fixtures/abstract-suite';
import { BloomLevel } from '@bloom/level';

const [path = '', sublevels] = process.argv.slice(2);
let made = 0;
const result = await runAbstractSuite((options) => new BloomLevel(join(path, String(made++)), options), sublevels !== undefined);
console.log(JSON.stringify(result));
// Some tests leave their level open.
process.exit(0);
