/** The address of the repository. It is a placeholder; all other addresses are derived from it. */
export const repository = 'https://github.com/bloom-leveldb/bloom';

/** The branch that links lead to. */
const BRANCH = 'main';

/**
 * @param {string} path of a file or a folder, from the root of the repository
 * @param {'blob' | 'tree'} kind `blob` for a file, `tree` for a folder
 * @returns {string} its address
 */
export function addressOf(path, kind) {
  return `${repository}/${kind}/${BRANCH}/${path}`;
}

/**
 * @param {string} address
 * @returns {string | undefined} the path in the repository, with its fragment, or undefined for an address elsewhere
 */
export function pathOf(address) {
  for (const kind of /** @type {const} */ (['blob', 'tree'])) {
    const start = addressOf('', kind);
    if (address.startsWith(start)) return address.slice(start.length);
  }
  return undefined;
}
