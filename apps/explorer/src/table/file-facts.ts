import type { LogFileFacts } from '../log/log-facts.js';
import type { TableFacts } from './table-facts.js';

/** The kind of a file, and its facts. */
export type FileFacts = { readonly kind: 'table'; readonly facts: TableFacts } | { readonly kind: 'log'; readonly facts: LogFileFacts };
