export { crc32c } from './crc32c.js';
export { maskCrc, maskedCrc32c, unmaskCrc } from './masked-crc.js';
