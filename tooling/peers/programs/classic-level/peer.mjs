// Runs classic-level, as src/peer.ts describes.
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { ClassicLevel } from 'classic-level';

/** @type {ClassicLevel<Buffer, Buffer> | undefined} */
let db;

/** @param {string} token */
const bytesOf = (token) => Buffer.from(token.slice(1), 'hex');

/** @param {string} path */
async function apply(path) {
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [operation, key, value] = line.split(' ');
    if (operation === 'put') await db.put(bytesOf(key), bytesOf(value));
    else if (operation === 'delete') await db.del(bytesOf(key));
  }
}

/** @param {string} path */
async function dump(path) {
  const entries = await db.iterator().all();
  writeFileSync(path, entries.map(([key, value]) => `x${key.toString('hex')} x${value.toString('hex')}\n`).join(''));
}

/**
 * @param {string} command
 * @param {string} argument
 */
async function run(command, argument) {
  switch (command) {
    case 'open': {
      const space = argument.indexOf(' ');
      const size = Number(argument.slice(0, space));
      const fresh = new ClassicLevel(argument.slice(space + 1), { keyEncoding: 'buffer', valueEncoding: 'buffer', writeBufferSize: size, maxFileSize: size });
      await fresh.open();
      db = fresh;
      return;
    }
    case 'apply':
      return apply(argument);
    case 'compact':
      return db.compactRange(Buffer.alloc(0), Buffer.alloc(16, 0xff));
    case 'dump':
      return dump(argument);
    case 'close':
      return db.close();
    default:
      throw new Error(`unknown command ${command}`);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const space = line.indexOf(' ');
  const [command, argument] = space < 0 ? [line, ''] : [line.slice(0, space), line.slice(space + 1)];
  try {
    await run(command, argument);
    console.log('ok');
  } catch (error) {
    console.log(`error ${(error.cause ?? error).message.replaceAll('\n', ' ')}`);
  }
}
