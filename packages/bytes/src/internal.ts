/** For the packages of this repository. Nothing here is part of the public interface: any release may change it. */
import './dispose.js';

export {
  copiedOptions,
  kindOf,
  mustBeArray,
  mustBeBoolean,
  mustBeBytes,
  mustBeFunction,
  mustBeIterable,
  mustBeOptions,
  mustBePath,
  mustBePlain,
  mustBeSignal,
  mustBeWhole,
  mustHaveAtMost,
  mustHaveMethods,
  mustNotMisspell,
  shownValue,
} from './arguments.js';
export { bytesOf } from './bytes-of.js';
export { GIT_LFS_POINTER, isEndOfGitLfsPointer, isGitLfsPointer, MAX_POINTER_LENGTH } from './git-lfs.js';
export { copyBytes, RangeCopier } from './copy-bytes.js';
export { isPromise } from './is-promise.js';
export { growMemory, instantiateKernel, type Kernel, type KernelMemory } from './kernel.js';
export { joinedBytes } from './joined-bytes.js';
export { numberOf } from './number-of.js';
export { plainBytes } from './plain-bytes.js';
export { PrefixViews } from './prefix-views.js';
export { quotedName } from './quoted-name.js';
export { type Random, seeded } from './random.js';
export { sameBytes } from './same-bytes.js';
export { type SignalController, throwIfAborted } from './signal.js';
export { isMarkup, isTextual } from './text-bytes.js';
export { undefinedSlots } from './undefined-slots.js';
