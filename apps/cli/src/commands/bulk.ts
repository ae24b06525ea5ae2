import type { Command } from 'commander';
import { addAssemble } from './assemble.js';
import { addGc } from './gc.js';
import { addPart } from './part.js';
import { addPublish } from './publish.js';
import { addSplit } from './split.js';

export function addBulk(program: Command): void {
  const command = program
    .command('bulk')
    .summary('build large databases in many tasks, and publish them')
    .description(
      'Makes a database from parts that many tasks write, and publishes it in a folder or a bucket: split finds ranges, part writes the parts of one range, assemble combines them into a database, publish switches readers to it, and gc deletes what no reader needs.',
    );
  for (const add of [addSplit, addPart, addAssemble, addPublish, addGc]) add(command);
}
