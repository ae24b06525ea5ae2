import { type Typing, TYPINGS } from '../bytes/byte-form-names.js';
import type { EntryRange } from './database-facts.js';

/** The entries of a database to list. */
export interface EntrySearch {
  readonly by: 'prefix' | 'range';
  /** Undefined for the database's default. */
  readonly typing: Typing | undefined;
  readonly prefix: string;
  readonly from: string;
  readonly to: string;
  /** The page of entries, and the pages before it. Not in the URL. */
  readonly page: { readonly number: number; readonly step: EntryRange };
}

export const FIRST_PAGE: EntrySearch['page'] = { number: 0, step: {} };
export const EVERYTHING: EntrySearch = { by: 'prefix', typing: undefined, prefix: '', from: '', to: '', page: FIRST_PAGE };

export function searchFromParams(params: URLSearchParams): EntrySearch {
  return {
    by: params.has('from') || params.has('to') ? 'range' : 'prefix',
    typing: TYPINGS.find((typing) => typing === params.get('typing')),
    prefix: params.get('prefix') ?? '',
    from: params.get('from') ?? '',
    to: params.get('to') ?? '',
    page: FIRST_PAGE,
  };
}

export function paramsOfSearch(params: URLSearchParams, { by, typing, prefix, from, to }: EntrySearch): void {
  if (typing !== undefined) params.set('typing', typing);
  if (by === 'prefix' && prefix !== '') params.set('prefix', prefix);
  if (by === 'range' && from !== '') params.set('from', from);
  if (by === 'range' && to !== '') params.set('to', to);
}
