export { FolderStore, type FolderStoreOptions } from './node/folder-store.js';
