export const REPOSITORY = 'https://github.com/bloom-leveldb/bloom';
export const DOCUMENTATION = repositoryFolder('docs');
/** Where browsers and apps store data, and what can be read of it. */
export const STORED_DATA_GUIDE = `${REPOSITORY}/blob/main/apps/site/pages/guide/browser-storage.md`;
/** The three jobs, each with what to install. */
export const INSTALL = `${REPOSITORY}#readme`;

export function repositoryFolder(path: string): string {
  return `${REPOSITORY}/tree/main/${path}`;
}
