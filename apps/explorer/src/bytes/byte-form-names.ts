/** Ways to show bytes. Their code is in another file, which the first view does not load. */
export const BYTE_FORMS = ['text', 'hex', 'numbers', 'indexeddb', 'minecraft'] as const;
export type ByteForm = (typeof BYTE_FORMS)[number];

/** Ways to type bytes: the ways to show them that preserve all bytes. */
export const TYPINGS = ['text', 'hex', 'indexeddb', 'minecraft'] as const;
export type Typing = (typeof TYPINGS)[number];
