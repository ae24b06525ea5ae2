export { NodeFolder, SyncNodeFolder } from './node/node-folder.js';
