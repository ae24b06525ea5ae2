/** A `BloomLevel` given to libraries that ask for abstract-level's or classic-level's class. */
import { BloomLevel } from '@bloom/level';
import type { AbstractBatchOperation, AbstractLevel, AbstractSublevel } from 'abstract-level';
import type { ClassicLevel } from 'classic-level';

declare function takesAny(level: AbstractLevel<any, any, any>): void;
declare function takesText(level: AbstractLevel<string | Buffer | Uint8Array>): void;
declare function takesBytes(level: AbstractLevel<string | Buffer | Uint8Array, Uint8Array, Uint8Array>): void;
declare function takesFormats(level: AbstractLevel<string | Uint8Array, string, object>): void;
declare function takesSublevel(level: AbstractSublevel<AbstractLevel<any>, any, string, object>): void;
declare function takesClassic(level: ClassicLevel): void;
declare function takesAnyClassic(level: ClassicLevel<any, any>): void;
declare function takesClassicBytes(level: ClassicLevel<Uint8Array, Uint8Array>): void;
declare function takesClass(Level: new (location: string, options?: { valueEncoding: 'json' }) => AbstractLevel<any, string, object>): void;
declare function takesOperations(operations: AbstractBatchOperation<ClassicLevel, string, string>[]): void;

const text = new BloomLevel('text');
const bytes = new BloomLevel<Uint8Array, Uint8Array>('bytes', { keyEncoding: 'view', valueEncoding: 'view' });
const json = new BloomLevel<string, object>('json', { valueEncoding: 'json' });

takesAny(text);
takesAny(json);
takesText(text);
takesBytes(bytes);
takesFormats(json);
takesSublevel(text.sublevel<string, object>('sub', { valueEncoding: 'json' }));
takesClassic(text);
takesAnyClassic(json);
takesClassicBytes(bytes);
takesClass(BloomLevel<string, object>);
takesOperations([{ type: 'put', key: 'a', value: 'b', sublevel: text.sublevel('sub') }]);

/** A class with a property of classic-level's class. */
export class Holder {
  readonly db: ClassicLevel<string, any> = json;
  readonly location: string = json.location;
}
