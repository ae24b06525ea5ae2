export { crc32c } from './crc32c.js';
export { maskCrc, maskedCrc32c } from './masked-crc.js';
