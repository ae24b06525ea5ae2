/** The views that every page links to. */
export const VIEWS = ['story', 'filter', 'table', 'database', 'storage', 'lookup', 'live'] as const;
/** Including views that are linked only from another view. */
const ALL_VIEWS = [...VIEWS, 'opfs'] as const;
export type View = (typeof ALL_VIEWS)[number];

/** The parts of the URL's hash, such as `#/filter?bits=10&keys=apple`. */
export interface Route {
  readonly view: View;
  readonly params: URLSearchParams;
}

export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const view = ALL_VIEWS.find((name) => name === path) ?? 'story';
  return { view, params: new URLSearchParams(query) };
}

export function hashOf(view: View, params: URLSearchParams): string {
  const query = params.toString();
  return query === '' ? `#/${view}` : `#/${view}?${query}`;
}
