/** The value of each hexadecimal digit, and 0xff for every other byte. */
export const HEX_DIGITS = new Uint8Array(256).fill(0xff);
for (let digit = 0; digit < 16; digit++) {
  const character = digit.toString(16);
  HEX_DIGITS[character.charCodeAt(0)] = HEX_DIGITS[character.toUpperCase().charCodeAt(0)] = digit;
}
