/** A factory of levels of any class, and what it returns by the types of its class and instance. */
import { BloomLevel as ClassicLevel } from '@bloom/level';

type Options = ConstructorParameters<typeof ClassicLevel>[1];
type Instance = InstanceType<typeof ClassicLevel<string, object>>;

export const DEFAULTS: Options = { keyEncoding: 'utf8', valueEncoding: 'json' };

export interface Adapter {
  readonly Level: typeof ClassicLevel;
  open(path: string): Promise<Instance>;
}

export const adapter: Adapter = {
  Level: ClassicLevel,
  async open(path) {
    const level = new this.Level<string, object>(path, { valueEncoding: 'json' });
    await level.open();
    const location: string = level.location;
    if (location !== path) throw new Error(location);
    return level;
  },
};

export const isLevel = (value: unknown): value is ClassicLevel => value instanceof ClassicLevel;
export const keysOf = async (level: Pick<ClassicLevel<string, object>, 'keys'>): Promise<string[]> => level.keys().all();
export type Value = Awaited<ReturnType<Instance['get']>>;
export const none: Value = undefined;
