import { type Typing, TYPINGS } from '../bytes/byte-form-names.js';

/** The key to look up, as typed. */
export interface LookupQuery {
  readonly key: string;
  /** Undefined for the database's default. */
  readonly typing: Typing | undefined;
}

export const NO_QUERY: LookupQuery = { key: '', typing: undefined };

export function queryFromParams(params: URLSearchParams): LookupQuery {
  return { key: params.get('key') ?? '', typing: TYPINGS.find((typing) => typing === params.get('typing')) };
}

export function paramsOfQuery(params: URLSearchParams, { key, typing }: LookupQuery): void {
  if (key !== '') params.set('key', key);
  if (typing !== undefined) params.set('typing', typing);
}
