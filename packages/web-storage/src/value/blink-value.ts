/**
 * Values as Blink stores them: V8's value in an envelope, with the objects of the browser.
 *
 *     ff, version (varint)         16 and above; without it, the version of V8's format behind it is Blink's too
 *     fe, u64, u32                 version 21 and above: where a list of the needed interfaces is, and its length; big-endian
 *     V8's value                   ff, version, tag …
 *
 * Up to version 16, before April 2017, the two bytes of each pair are swapped, so that a value starts with the version and ff.
 *
 * Objects of the browser follow V8's tag `\`, and have a tag of their own. Strings in them are a length (varint) and UTF-8.
 *
 * Source: Chromium, third_party/blink/renderer/bindings/{core,modules}/v8/serialization.
 */
import { numberOf } from '@bloom/bytes/internal';
import { ByteReader } from './byte-reader.js';
import { readCryptoKey } from './crypto-key.js';
import { type ExternalObject, HostObject, StoredBlob } from './host-object.js';
import { PropertyNames } from './property-names.js';
import { HOST_OBJECT_WEIGHT, type HostObjectReader, V8ValueReader } from './v8-value.js';
import type { WebStorageError } from '../web-storage-error.js';

const VERSION_TAG = 0xff;
const TRAILER_TAG = 0xfe;
const FIRST_OWN_ENVELOPE = 16;
const LAST_SWAPPED = 16;
const FIRST_WITH_TRAILER = 21;
/** The offset and the size of the trailer. */
const TRAILER_PLACE_BYTES = 12;
/** From this version on, the settings of an image precede its size. */
const IMAGE_SETTINGS = 18;

/** The most bytes that a compressed value may have. */
export const DEFAULT_MAX_VALUE_BYTES = 2 ** 27;
const BYTES_PER_OBJECT = 16;

/** The result of decoding a value. */
export interface DecodedValue {
  readonly value: unknown;
  /** False if it has an object of an unknown kind, after which nothing could be read. */
  readonly isComplete: boolean;
}

/** The parts of a value that are stored elsewhere. */
export interface ValueContext {
  /** The blobs and files of the record, in the order of their indexes. */
  readonly externalObjects?: readonly ExternalObject[] | undefined;
  /** Why the list of blobs and files is incomplete: the error of the missing ones. */
  readonly externalObjectsError?: WebStorageError | undefined;
  /** Reads a file of the blob folder by its number. */
  readonly readBlob?: ((blobNumber: number) => Promise<Uint8Array>) | undefined;
  /**
   * The most bytes that a compressed value may have when it is decompressed. An object takes more memory than its bytes, so any value may have
   * one object for every 16 of them: maps, sets and regular expressions count as two, buffers as three, objects of the browser as four, errors
   * as 16. Default: 128 MiB; Chromium refuses to store values above 127 MiB.
   */
  readonly maxValueBytes?: number | undefined;
  /** The property names that values of the same store have had so far. */
  readonly names?: PropertyNames | undefined;
}

/**
 * Decodes a value as Blink serializes it for IndexedDB, from Chromium 57 on, or as `v8.serialize` of Node.js writes it, except for Node's own
 * host objects.
 *
 * @throws WebStorageError BLOOM_BAD_VALUE, BLOOM_TOO_DEEP, BLOOM_TOO_LARGE or BLOOM_UNSUPPORTED_VALUE.
 */
export function decodeValue(bytes: Uint8Array, context: ValueContext = {}): DecodedValue {
  const ordered = isSwapped(bytes) ? withSwappedPairs(bytes) : bytes;
  const envelope = readEnvelope(ordered);
  const host = new BlinkObjects(envelope.version, context);
  const { maxValueBytes = DEFAULT_MAX_VALUE_BYTES } = context;
  const reader = new V8ValueReader(ordered, envelope.end, host, context.names ?? (names ??= new PropertyNames()), Math.ceil(maxValueBytes / BYTES_PER_OBJECT));
  host.version ??= reader.version;
  const value = reader.read();
  return { value, isComplete: reader.isComplete };
}

/** Of values that are decoded one by one: making room for names takes longer than decoding a small value. */
let names: PropertyNames | undefined;

function isSwapped(bytes: Uint8Array): boolean {
  return bytes[1] === VERSION_TAG && bytes[0]! <= LAST_SWAPPED;
}

function withSwappedPairs(bytes: Uint8Array): Uint8Array {
  const swapped = new Uint8Array(bytes);
  for (let i = 0; i + 1 < bytes.length; i += 2) {
    swapped[i] = bytes[i + 1]!;
    swapped[i + 1] = bytes[i]!;
  }
  return swapped;
}

interface Envelope {
  /** Blink's version; undefined where it is V8's. */
  readonly version: number | undefined;
  /** The start of V8's value. */
  readonly end: number;
}

function readEnvelope(bytes: Uint8Array): Envelope {
  if (bytes[0] !== VERSION_TAG) return { version: undefined, end: 0 };
  const reader = new ByteReader(bytes, 'value', 1);
  const version = reader.varint32();
  // Version 16 alone can be either: V8's value starts with a tag, and Blink's envelope is followed by V8's header.
  if (version < FIRST_OWN_ENVELOPE || (bytes[reader.position] !== VERSION_TAG && bytes[reader.position] !== TRAILER_TAG)) return { version: undefined, end: 0 };
  if (version < FIRST_WITH_TRAILER) return { version, end: reader.position };
  if (reader.byte() !== TRAILER_TAG) throw reader.bad('the place of the trailer is missing', reader.position - 1);
  reader.take(TRAILER_PLACE_BYTES);
  return { version, end: reader.position };
}

/** Reads doubles under names, as most geometry is stored. */
function doubles(reader: ByteReader, names: readonly string[]): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, reader.double()]));
}

/** A flag, and a double that is stored even if the flag is 0. */
function optionalDouble(reader: ByteReader): number | undefined {
  const isThere = reader.byte() !== 0;
  const value = reader.double();
  return isThere ? value : undefined;
}

const POINT = ['x', 'y', 'z', 'w'];
const RECT = ['x', 'y', 'width', 'height'];
const MATRIX_2D = ['a', 'b', 'c', 'd', 'e', 'f'];
const MATRIX = [1, 2, 3, 4].flatMap((column) => [1, 2, 3, 4].map((row) => `m${column}${row}`));

/** Objects that consist of doubles, by their tags. */
const GEOMETRY: Readonly<Record<string, readonly [name: string, fields: readonly string[]]>> = {
  Q: ['DOMPoint', POINT],
  W: ['DOMPointReadOnly', POINT],
  E: ['DOMRect', RECT],
  R: ['DOMRectReadOnly', RECT],
  Y: ['DOMMatrix', MATRIX],
  U: ['DOMMatrixReadOnly', MATRIX],
  I: ['DOMMatrix', MATRIX_2D],
  O: ['DOMMatrixReadOnly', MATRIX_2D],
};

class BlinkObjects implements HostObjectReader {
  version: number | undefined;
  readonly #context: ValueContext;

  constructor(version: number | undefined, context: ValueContext) {
    this.version = version;
    this.#context = context;
  }

  readHostObject(reader: V8ValueReader): object | undefined {
    const type = String.fromCharCode(reader.byte());
    const geometry = GEOMETRY[type];
    if (geometry !== undefined) return new HostObject(geometry[0], type, doubles(reader, geometry[1]));
    switch (type) {
      case 'i':
        return this.#blob('blob', reader);
      case 'e':
        return this.#blob('file', reader);
      case 'L':
        return fileList(type, reader, () => this.#blob('file', reader));
      case 'b':
        return new HostObject('Blob', type, { uuid: text(reader), type: text(reader), size: reader.varint64() });
      case 'f':
        return new HostObject('File', type, this.#file(reader));
      case 'l':
        return fileList(type, reader, () => new HostObject('File', 'f', this.#file(reader)));
      case '#':
        return new HostObject('ImageData', type, this.#image(reader, false));
      case 'g':
        return new HostObject('ImageBitmap', type, this.#image(reader, true));
      case 'T':
        return new HostObject('DOMQuad', type, Object.fromEntries([1, 2, 3, 4].map((n) => [`p${n}`, doubles(reader, POINT)])));
      case 'x':
        return new HostObject('DOMException', type, { name: text(reader), message: text(reader), stack: text(reader) });
      case 'd':
        return new HostObject('DOMFileSystem', type, { type: reader.varint32(), name: text(reader), rootURL: text(reader) });
      case 'n':
      case 'N':
        return new HostObject(type === 'n' ? 'FileSystemFileHandle' : 'FileSystemDirectoryHandle', type, { name: text(reader), index: reader.varint32() });
      case 'k':
        return new HostObject('RTCCertificate', type, { pemPrivateKey: text(reader), pemCertificate: text(reader) });
      case 'c':
        return new HostObject('CropTarget', type, { id: text(reader) });
      case 'K': {
        const key = readCryptoKey(reader);
        return key && new HostObject('CryptoKey', type, key);
      }
      case 'q': {
        const error = { name: 'QuotaExceededError', message: text(reader), stack: text(reader) };
        return new HostObject('QuotaExceededError', type, { ...error, quota: optionalDouble(reader), requested: optionalDouble(reader) });
      }
      default:
        return undefined;
    }
  }

  #blob(kind: 'blob' | 'file', reader: ByteReader): StoredBlob {
    const index = reader.varint32();
    const { externalObjects, externalObjectsError, readBlob } = this.#context;
    return new StoredBlob(kind, index, externalObjects?.[index] ?? externalObjectsError, readBlob);
  }

  #file(reader: ByteReader): Record<string, unknown> {
    const file: Record<string, unknown> = { path: text(reader), name: text(reader), relativePath: text(reader), uuid: text(reader), type: text(reader) };
    if (reader.varint32() !== 0) {
      file.size = reader.varint64();
      file.lastModified = new Date(reader.double());
    }
    file.isUserVisible = reader.varint32() !== 0;
    return file;
  }

  /** Settings by number, ending in 0; before version 18 a bitmap had two of them without a number. */
  #image(reader: ByteReader, isBitmap: boolean): Record<string, unknown> {
    const image: Record<string, unknown> = {};
    if (this.version! >= IMAGE_SETTINGS) {
      for (let setting = reader.varint32(); setting !== 0; setting = reader.varint32()) {
        const name = IMAGE_SETTING_NAMES[setting];
        if (name === undefined) throw reader.bad(`unknown setting ${setting} of an image`);
        image[name] = setting === PARAMETRIC_COLOR_SPACE ? Array.from({ length: COLOR_SPACE_PARAMETERS }, () => reader.double()) : settingOf(name, reader.varint32());
      }
    } else if (isBitmap) {
      image.originClean = reader.varint32() !== 0;
      image.isPremultiplied = reader.varint32() !== 0;
    }
    image.width = reader.varint32();
    image.height = reader.varint32();
    image.data = reader.take(reader.varint64()).slice();
    return image;
  }
}

const PARAMETRIC_COLOR_SPACE = 7;
/** Seven of the transfer function, nine of the matrix. */
const COLOR_SPACE_PARAMETERS = 16;
const IMAGE_SETTING_NAMES: readonly (string | undefined)[] = [
  undefined,
  'colorSpace',
  'bitmapFormat',
  'pixelFormat',
  'originClean',
  'isPremultiplied',
  'opacityMode',
  'colorSpaceParameters',
  'imageOrientation',
];
const COLOR_SPACES: readonly string[] = ['srgb', 'srgb', 'rec2020', 'display-p3'];
const PIXEL_FORMATS: readonly string[] = ['rgba-unorm8', 'rgba-float16', 'rgba-float32'];

function settingOf(name: string, value: number): unknown {
  if (name === 'colorSpace') return COLOR_SPACES[value] ?? value;
  if (name === 'pixelFormat') return PIXEL_FORMATS[value] ?? value;
  if (name === 'originClean' || name === 'isPremultiplied') return value !== 0;
  return value;
}

function fileList(tag: string, reader: ByteReader, readFile: () => object): HostObject {
  const count = reader.varint32();
  if (count > reader.remaining) throw reader.bad(`a list of ${numberOf(count, 'file')} does not fit in ${numberOf(reader.remaining, 'byte')}`);
  const files: object[] = [];
  while (files.length < count) {
    reader.countObject(HOST_OBJECT_WEIGHT);
    files.push(readFile());
  }
  return new HostObject('FileList', tag, { files });
}

/** A length and UTF-8. */
function text(reader: ByteReader): string {
  return reader.utf8(reader.varint32());
}
