export const REPOSITORY = 'https://github.com/bloom-leveldb/bloom';
export const DOCUMENTATION = repositoryFolder('docs');
/** The three jobs, each with what to install. */
export const INSTALL = `${REPOSITORY}#readme`;

export function repositoryFolder(path: string): string {
  return `${REPOSITORY}/tree/main/${path}`;
}
