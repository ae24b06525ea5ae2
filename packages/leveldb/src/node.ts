export { BackgroundThread, type BackgroundThreadOptions, type PluginModule } from './node/background-thread.js';
export type { ThreadPlugins } from './folder/table-thread.js';
export { NodeFolder, SyncNodeFolder } from './node/node-folder.js';
export { WritableNodeFolder, type WritableNodeFolderOptions } from './node/writable-node-folder.js';
