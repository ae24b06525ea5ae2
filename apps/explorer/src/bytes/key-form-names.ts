/** Ways to show bytes. The forms themselves are in a file of their own, which the first view does not need. */
export const KEY_FORMS = ['text', 'hex', 'numbers', 'indexeddb', 'minecraft'] as const;
export type KeyForm = (typeof KEY_FORMS)[number];

/** Ways to type bytes: every way to show them that says all of them. */
export const TYPINGS = ['text', 'hex', 'indexeddb', 'minecraft'] as const;
export type Typing = (typeof TYPINGS)[number];
