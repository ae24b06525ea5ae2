export { NodeFolder, SyncNodeFolder } from './node/node-folder.js';
export { WritableNodeFolder } from './node/writable-node-folder.js';
