/** A generic repository: the type of values as a type parameter, sublevels of sublevels, and a derived class. */
import type { AbstractLevel, AbstractSublevel } from 'abstract-level';
import { BloomLevel as ClassicLevel } from '@bloom/level';

interface Entity {
  readonly id: string;
}

export class Repository<T extends Entity, TParent extends AbstractLevel<any, any, any> = ClassicLevel<string, unknown>> {
  protected readonly items: AbstractSublevel<TParent, string | Buffer | Uint8Array, string, T>;
  private readonly byOwner: AbstractSublevel<Repository<T, TParent>['items'], string | Buffer | Uint8Array, string, string>;

  constructor(db: TParent, name: string) {
    this.items = db.sublevel<string, T>(name, { valueEncoding: 'json' });
    this.byOwner = this.items.sublevel('owners', {});
  }

  find(id: string): Promise<T | undefined> {
    return this.items.get(id);
  }

  async save(entity: T, owner: string): Promise<T> {
    await this.items.put(entity.id, entity);
    await this.byOwner.put(`${owner}/${entity.id}`, entity.id);
    return entity;
  }

  async all(): Promise<Map<string, T>> {
    return new Map(await this.items.iterator().all());
  }
}

interface User extends Entity {
  readonly name: string;
}

export class Users extends Repository<User> {
  constructor(path: string) {
    super(new ClassicLevel<string, unknown>(path, { valueEncoding: 'json' }), 'users');
  }
}
