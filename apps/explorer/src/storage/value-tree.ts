import { HostObject, StoredBlob } from '@bloom/web-storage';
import { quotedText } from '../bytes/quoted-text.js';
import type { NodeFacts } from './storage-facts.js';
import { isPlainName, leafText, lineOf, nameText, partsOf, typeOf } from './value-text.js';

/** The number of characters of a text that are shown before the user requests the whole text. */
const TEXT_LENGTH = 1000;
const LINE_LENGTH = 120;

interface Node {
  readonly value: unknown;
  readonly path: string;
  /** The remaining parts from `partsOf`. */
  readonly parts: Generator<readonly [unknown, unknown], void, undefined> | undefined;
  readonly children: NodeFacts[];
}

/** The values of a row, which are read part by part. An object that is already shown elsewhere becomes a reference to that place. */
export class ValueTree {
  readonly #nodes: Node[] = [];
  /** The place where each object is shown. */
  readonly #places = new Map<object, string>();

  /** Adds a root, such as the key. It shares no objects with other roots. */
  root(name: string, value: unknown): NodeFacts {
    return this.#add(undefined, value, name);
  }

  children(id: number, start: number, end: number): readonly NodeFacts[] {
    const { value, path, parts, children } = this.#node(id);
    while (parts !== undefined && children.length < end) {
      const { value: part, done } = parts.next();
      if (done === true) break;
      const [label, child] = part;
      if (value instanceof Map) {
        const key = lineOf(label, LINE_LENGTH);
        // A key with parts can be opened too.
        const isLeaf = leafText(label, 0) !== undefined;
        children.push(isLeaf ? this.#add(key, child, `${path}.get(${key})`) : this.#add(`entry ${children.length}`, new MapEntry(label, child), `${path}, entry ${children.length}`));
      } else {
        const name = String(label);
        children.push(this.#add(nameText(name), child, value instanceof HostObject || value instanceof MapEntry ? `${path}, ${name}` : `${path}${accessOf(name)}`));
      }
    }
    return children.slice(start, end);
  }

  text(id: number): string {
    const { value } = this.#node(id);
    return typeof value === 'string' ? value : (leafText(value) ?? '');
  }

  async file(id: number): Promise<Blob> {
    const { value } = this.#node(id);
    const bytes = value instanceof StoredBlob ? await value.bytes() : bytesOf(value);
    if (bytes === undefined) throw new TypeError('this part of the value has no bytes');
    return new Blob([bytes as Uint8Array<ArrayBuffer>], { type: value instanceof StoredBlob ? (value.type ?? '') : '' });
  }

  #node(id: number): Node {
    const node = this.#nodes[id];
    if (node === undefined) throw new RangeError(`there is no node ${id}`);
    return node;
  }

  #add(label: string | undefined, value: unknown, path: string): NodeFacts {
    const id = this.#nodes.length;
    const isObject = typeof value === 'object' && value !== null;
    const sameAs = isObject ? this.#places.get(value) : undefined;
    if (isObject && sameAs === undefined) this.#places.set(value, path);
    const childCount = isObject && sameAs === undefined ? countParts(value) : 0;
    this.#nodes.push({ value, path, parts: childCount > 0 ? partsOfNode(value as object) : undefined, children: [] });
    const isLong = typeof value === 'string' && value.length > TEXT_LENGTH;
    return {
      id,
      label,
      type: value instanceof MapEntry ? 'entry' : typeOf(value),
      text: sameAs !== undefined ? '' : (leafText(value, TEXT_LENGTH) ?? withoutType(lineOf(value instanceof MapEntry ? [value.key, value.value] : value, LINE_LENGTH), typeOf(value))),
      textLength: isLong ? value.length : undefined,
      childCount,
      sameAs,
      file: fileOf(value),
    };
  }
}

/** An entry of a Map whose key has parts. */
class MapEntry {
  readonly key: unknown;
  readonly value: unknown;

  constructor(key: unknown, value: unknown) {
    this.key = key;
    this.value = value;
  }
}

function partsOfNode(value: object): Generator<readonly [unknown, unknown], void, undefined> {
  return value instanceof MapEntry ? (Object.entries(value).values() as Generator<[string, unknown], void, undefined>) : partsOf(value);
}

function countParts(value: object): number {
  if (value instanceof Map || value instanceof Set) return value.size;
  if (ArrayBuffer.isView(value)) return value instanceof DataView ? 0 : (value as Uint8Array).length;
  if (value instanceof MapEntry) return 2;
  let parts = 0;
  for (const _ of partsOf(value)) parts++;
  return parts;
}

/** A line without its type, which is shown before it. */
function withoutType(line: string, type: string): string {
  return line.startsWith(`${type} `) ? line.slice(type.length + 1) : line;
}

function accessOf(name: string): string {
  if (/^\d+$/u.test(name)) return `[${name}]`;
  return isPlainName(name) ? `.${name}` : `[${quotedText(name)}]`;
}

function bytesOf(value: unknown): Uint8Array | undefined {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return ArrayBuffer.isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : undefined;
}

function fileOf(value: unknown): NodeFacts['file'] {
  if (value instanceof StoredBlob) return { name: value.name ?? 'blob', type: value.type ?? '', size: value.size };
  const bytes = bytesOf(value);
  return bytes && { name: 'bytes', type: '', size: bytes.length };
}
