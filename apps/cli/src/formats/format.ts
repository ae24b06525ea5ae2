import { namedRows } from '../outputs/screen-text.js';
import { base64 } from './base64.js';
import { csv } from './csv.js';
import { hex } from './hex.js';
import { jsonl } from './jsonl.js';
import { kv } from './kv.js';
import { raw } from './raw.js';
import { tsv } from './tsv.js';
import { words } from './words.js';
import type { Format } from './format-contract.js';

export const formats = { tsv, jsonl, csv, hex, base64, kv, raw, words } satisfies Record<string, Format>;

export type FormatName = keyof typeof formats;

export const formatNames = Object.keys(formats) as readonly FormatName[];

/** For the help of commands that take --format. */
export function formatHelp(names: readonly FormatName[] = formatNames): string {
  const lines = namedRows(names.map((name) => [`  ${name}`, (formats[name] as Format).help]));
  return `\nFormats:\n${lines.join('\n')}\n`;
}
