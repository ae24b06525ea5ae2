export { crc32c } from '#crc32c';
export { maskCrc, maskedCrc32c } from './masked-crc.js';
