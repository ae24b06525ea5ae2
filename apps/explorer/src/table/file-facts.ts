import type { LogFileFacts } from '../log/log-facts.js';
import type { TableFacts } from './table-facts.js';

/** What a file is. */
export type FileFacts = { readonly kind: 'table'; readonly facts: TableFacts } | { readonly kind: 'log'; readonly facts: LogFileFacts };
