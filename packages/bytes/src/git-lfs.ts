/**
 * A Git LFS pointer: the text that a checkout has in place of a large file until Git LFS downloads the file.
 *
 *     version https://git-lfs.github.com/spec/v1
 *     oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
 *     size 12345
 *
 * Source: Git LFS, docs/spec.md, "The Pointer".
 */
const START = 'version https://git-lfs.github.com/spec/v1\n';

/** The length of the longest pointer, in bytes. */
export const MAX_POINTER_LENGTH = 1023;

/** What such a file is, and what to do. */
export const GIT_LFS_POINTER = 'a Git LFS pointer, not the file itself: run git lfs pull';

/** Whether a file is such a pointer. @param start its first bytes, 43 or more. */
export function isGitLfsPointer(start: Uint8Array): boolean {
  for (let i = 0; i < START.length; i++) if (start[i] !== START.charCodeAt(i)) return false;
  return true;
}

/** Whether a file that is not a table is such a pointer. @param end its last 48 bytes. */
export function isEndOfGitLfsPointer(end: Uint8Array): boolean {
  return /[0-9a-f]{16}\nsize \d+\n$/.test(String.fromCharCode(...end));
}
