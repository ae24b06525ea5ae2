/** Hooks and events: an index that is written with each entry, and a queue of what was written. */
import type { AbstractBatchOperation, AbstractBatchPutOperation } from 'abstract-level';
import { BloomLevel as ClassicLevel } from '@bloom/level';

interface Person {
  readonly name: string;
  readonly city: string;
}

export class People {
  readonly db = new ClassicLevel<string, Person>('people', { valueEncoding: 'json' });
  readonly written: string[] = [];

  constructor() {
    const cities = this.db.sublevel('cities');
    this.db.hooks.prewrite.add((operation, batch) => {
      if (operation.type === 'put') batch.add({ type: 'put', sublevel: cities, key: (operation.value as Person).city, value: operation.key as string, valueEncoding: 'utf8' });
    });
    this.db.hooks.postopen.add(async () => {
      await this.db.clear({ gte: 'temporary:', lt: 'temporary;' });
    });
    this.db.on('write', (operations: { key: string }[]) => this.written.push(...operations.map(({ key }) => key)));
    this.db.once('open', () => this.written.push('open'));
  }

  async add(people: readonly Person[]): Promise<void> {
    const operations: AbstractBatchPutOperation<ClassicLevel<string, Person>, string, Person>[] = people.map((value) => ({ type: 'put', key: value.name, value }));
    const other: AbstractBatchOperation<ClassicLevel<string, Person>, string, Person>[] = [...operations, { type: 'del', key: 'nobody' }];
    await this.db.batch(other);
  }
}
