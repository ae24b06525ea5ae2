import './dispose.js';

export { CorruptionError, type CorruptionCode, type Place, type Structure, UnsupportedError, type UnsupportedCode } from './errors.js';
export type { LabelledRange } from './labelled-range.js';
export type { Bytes } from './bytes-type.js';
export type { AbortSignalLike, Signal } from './signal.js';
export { putBigVarint, putVarint, varintLength, VarintReader } from './varint.js';
