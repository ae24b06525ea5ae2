import './dispose.js';

export {
  mustBeArray,
  mustBeBoolean,
  mustBeBytes,
  mustBeFunction,
  mustBeIterable,
  mustBeOptions,
  mustBeSignal,
  mustBeWhole,
  mustHaveAtMost,
  mustHaveMethods,
  mustBePlain,
  mustNotMisspell,
} from './arguments.js';
export { copyBytes, RangeCopier } from './copy-bytes.js';
export {
  CorruptionError,
  type CorruptionCode,
  type Place,
  type Structure,
  UnsupportedError,
  type UnsupportedCode,
} from './errors.js';
export { growMemory, instantiateKernel, type Kernel, type KernelMemory } from './kernel.js';
export type { LabelledRange } from './labelled-range.js';
export { plainBytes } from './plain-bytes.js';
export { PrefixViews } from './prefix-views.js';
export { quotedName } from './quoted-name.js';
export { type Random, seeded } from './random.js';
export type { Bytes } from './returned-bytes.js';
export type { AbortSignalLike, Signal, SignalController } from './signal.js';
export { isMarkup, isTextual } from './text-bytes.js';
export { putBigVarint, putVarint, varintLength, VarintReader } from './varint.js';
