/** ArrayBuffers and their views, as V8 describes them: the kind of a view, its offset and length in bytes, flags. */
import { numberOf } from '@bloom/bytes/internal';
import { HostObject } from './host-object.js';

/** A resizable ArrayBuffer reserves its largest length immediately; one with a larger maximum is made with a fixed length. */
const MAX_RESERVED_BYTES = 2 ** 28;

type ViewConstructor = new (buffer: ArrayBuffer, byteOffset: number, length?: number) => ArrayBufferView;

/** The views by their tags: name, and bytes per element. A host may not have all of them. */
const VIEWS: Readonly<Record<string, readonly [name: string, elementBytes: number]>> = {
  b: ['Int8Array', 1],
  B: ['Uint8Array', 1],
  C: ['Uint8ClampedArray', 1],
  w: ['Int16Array', 2],
  W: ['Uint16Array', 2],
  d: ['Int32Array', 4],
  D: ['Uint32Array', 4],
  h: ['Float16Array', 2],
  f: ['Float32Array', 4],
  F: ['Float64Array', 8],
  q: ['BigInt64Array', 8],
  Q: ['BigUint64Array', 8],
  '?': ['DataView', 1],
};

/** A flag of a view. */
const TRACKS_LENGTH = 1;

/** The stored description of a view. */
export interface ViewDescription {
  readonly kind: string;
  readonly byteOffset: number;
  readonly byteLength: number;
  readonly flags: number;
}

/** Makes a view, or a {@link HostObject} if the host does not have its kind. @returns the problem, if it does not fit its buffer. */
export function viewOf(buffer: ArrayBuffer, { kind, byteOffset, byteLength, flags }: ViewDescription): object | string {
  const view = VIEWS[kind];
  if (view === undefined) return `unknown kind of view ${JSON.stringify(kind)}`;
  const [name, elementBytes] = view;
  if (byteOffset > buffer.byteLength || byteLength > buffer.byteLength - byteOffset || byteOffset % elementBytes !== 0 || byteLength % elementBytes !== 0) {
    return `a ${name} of ${numberOf(byteLength, 'byte')} at byte ${byteOffset} does not fit in a buffer of ${numberOf(buffer.byteLength, 'byte')}`;
  }
  const View = (globalThis as unknown as Record<string, ViewConstructor | undefined>)[name];
  // A view that tracks the length of its buffer has none of its own.
  const tracksLength = (flags & TRACKS_LENGTH) !== 0;
  const length = tracksLength ? Math.floor((buffer.byteLength - byteOffset) / elementBytes) : byteLength / elementBytes;
  if (View === undefined) return new HostObject(name, 'V', { buffer, byteOffset, length });
  if (tracksLength && isResizable(buffer)) {
    try {
      return new View(buffer, byteOffset);
    } catch {
      // Some hosts refuse a buffer whose length is not a multiple of the element's.
    }
  }
  return new View(buffer, byteOffset, length);
}

/** @param maxByteLength undefined for a buffer of a fixed length. */
export function newBuffer(length: number, maxByteLength: number | undefined): ArrayBuffer {
  if (maxByteLength === undefined || maxByteLength > MAX_RESERVED_BYTES) return new ArrayBuffer(length);
  return new (ArrayBuffer as new (length: number, options: { maxByteLength: number }) => ArrayBuffer)(length, { maxByteLength });
}

/** Whether the length of a buffer can change. */
export function isResizable(buffer: ArrayBuffer): boolean {
  return (buffer as { resizable?: boolean }).resizable === true;
}
