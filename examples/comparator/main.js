// Orders a database with a custom comparator: decimal numbers by their value.
import { Database, WritableMemoryFolder } from '@bloom/leveldb';
import { bytewiseComparator } from '@bloom/sstable';
import { comparatorLaws } from '@bloom/sstable/contract';

/** @import { Comparator } from '@bloom/sstable' */

/** Compares numbers without leading zeros: the one with more digits is larger. @type {Comparator} */
const decimalOrder = {
  name: 'example.DecimalOrder',
  compare: (a, b) => a.length - b.length || bytewiseComparator.compare(a, b),
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};

const numbers = ['10', '9', '1000', '200'].map((number) => Buffer.from(number));
for (const law of comparatorLaws(decimalOrder, { keys: numbers })) law.run();
console.log('the comparator passes all laws');

const database = await Database.open(new WritableMemoryFolder(), { comparator: decimalOrder });
for (const number of numbers) await database.put(number, Buffer.from(`${number.length} digits`));
for await (const [key, value] of database.entries({ gte: Buffer.from('10') })) console.log(Buffer.from(key).toString(), Buffer.from(value).toString());
await database.close();
