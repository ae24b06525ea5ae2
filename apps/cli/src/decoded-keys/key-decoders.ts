/** The programs whose keys `scan --decode-keys` knows. */
export const KEY_DECODERS = ['chromium', 'minecraft'] as const;

export type KeyDecoderName = (typeof KEY_DECODERS)[number];
