/** Stores as `storing-page.ts` does, as soon as it is loaded, and posts what it has stored. */
import { store, stored } from './storing-page.js';

declare const __SEED__: number;
declare const __COUNT__: number;
declare const __HAS_LARGE__: boolean;

async function report(): Promise<void> {
  await store(__SEED__, __COUNT__, __HAS_LARGE__);
  await fetch('/stored', { method: 'POST', body: JSON.stringify(await stored()) });
}

void report();
