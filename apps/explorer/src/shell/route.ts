import { useEffect, useState } from 'preact/hooks';

export const VIEWS = ['filter', 'table', 'database', 'lookup'] as const;
export type View = (typeof VIEWS)[number];

/** What the URL's hash says: `#/filter?bits=10&keys=apple`. */
export interface Route {
  readonly view: View;
  readonly params: URLSearchParams;
}

export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const view = VIEWS.find((name) => name === path) ?? 'filter';
  return { view, params: new URLSearchParams(query) };
}

export function hashOf(view: View, params: URLSearchParams): string {
  const query = params.toString();
  return query === '' ? `#/${view}` : `#/${view}?${query}`;
}

/** The route that the page is at, kept up to date. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const update = (): void => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', update);
    return () => removeEventListener('hashchange', update);
  }, []);
  return route;
}

/** Goes to another view or state, as a step that Back undoes. */
export function navigate(view: View, params: Record<string, string> = {}): void {
  location.hash = hashOf(view, new URLSearchParams(params));
}

/** Puts the state of the current view into the URL, without a step in the history. */
export function replaceState(view: View, params: URLSearchParams): void {
  if (parseRoute(location.hash).view !== view) return;
  const hash = hashOf(view, params);
  if (hash !== location.hash) history.replaceState(null, '', hash);
}
