// The command `count` of tooling/native/src/leveldb-database.cc, with classic-level: count-writer.mjs FOLDER SECONDS.
import { ClassicLevel } from 'classic-level';

const [path = '', seconds = '1'] = process.argv.slice(2);
const options = { keyEncoding: 'utf8', valueEncoding: 'utf8', writeBufferSize: 64 * 1024, maxFileSize: 1 << 20 };
const end = Date.now() + Number(seconds) * 1000;
let database = new ClassicLevel(path, options);
await database.open();
for (let i = 1; Date.now() < end; i++) {
  await database.batch([
    { type: 'put', key: 'count', value: `${i}` },
    { type: 'put', key: `slot${i % 200}`, value: `${i} ${'x'.repeat((i * 7919) % 600)}` },
    { type: 'put', key: `gone${i % 10}`, value: `${i}` },
    { type: 'del', key: `gone${(i - 1) % 10}` },
  ]);
  if (i % 64 === 0) process.stdout.write(`${i}\n`);
  if (i % 5000 === 0) {
    await database.close();
    database = new ClassicLevel(path, options);
    await database.open();
  }
}
await database.close();
