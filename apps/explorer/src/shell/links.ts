export const REPOSITORY = 'https://github.com/bloom-leveldb/bloom';
export const DOCUMENTATION = repositoryFolder('docs');
/** The guide about data of browsers and apps. */
export const STORED_DATA_GUIDE = `${REPOSITORY}/blob/main/apps/site/pages/guide/browser-storage.md`;
/** The README's section about jobs and packages to install. */
export const INSTALL = `${REPOSITORY}#readme`;

export function repositoryFolder(path: string): string {
  return `${REPOSITORY}/tree/main/${path}`;
}
