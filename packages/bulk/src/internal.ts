// For the other packages of this repository. It promises nothing: any release may change it.
export { manifestName, numberOfSha256, type ObjectName, parseObjectName } from './part/object-name.js';
export { DEFAULT_PART_BYTES } from './part/part-writer.js';
export { READ_ONCE } from './run/run.js';
export { decodeMergedLevels, encodeMergedLevels, partsOfMergedLevels } from './publication/merged-levels.js';
