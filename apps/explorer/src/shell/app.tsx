import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { FilterView } from '../filter/filter-view.js';
import type { ViewProps } from './view-props.js';
import { hashOf, type Route, useRoute, type View, VIEWS } from './route.js';
import { type Theme, THEMES, useTheme } from './theme.js';

const TITLES: Record<View, string> = { filter: 'Filter', table: 'Table', database: 'Database', lookup: 'Lookup' };
const TASKS: Record<View, string> = {
  filter: 'Touch a Bloom filter',
  table: 'Look inside one file',
  database: 'Walk through a folder',
  lookup: 'Follow one key',
};

type LazyView = Exclude<View, 'filter'>;
const load: Record<LazyView, () => Promise<ComponentType<ViewProps>>> = {
  table: async () => (await import('../table/table-view.js')).TableView,
  database: async () => (await import('../database/database-view.js')).DatabaseView,
  lookup: async () => (await import('../lookup/lookup-view.js')).LookupView,
};

export function App() {
  const route = useRoute();
  const [theme, setTheme] = useTheme();
  const main = useRef<HTMLElement>(null);
  const lastView = useRef(route.view);
  /** Where each view was left, so that its link leads back there. */
  const left = useRef(new Map<View, string>());
  useEffect(() => {
    document.title = `${TITLES[route.view]} · Bloom explorer`;
    if (lastView.current !== route.view) main.current?.focus();
    lastView.current = route.view;
    return () => void left.current.set(route.view, location.hash);
  }, [route.view]);
  const rememberWhereLeft = (): void => void left.current.set(route.view, location.hash);
  return (
    <>
      <a class="skip-link" href={hashOf(route.view, route.params)} onClick={(event) => skipTo(event, main.current)}>
        Skip to the view
      </a>
      <header class="masthead">
        <a class="brand" href="#/filter">
          <Mark />
          <span>
            Bloom <span class="brand-word">explorer</span>
          </span>
        </a>
        <nav aria-label="Views" class="views">
          {VIEWS.map((view) => (
            <a
              key={view}
              href={left.current.get(view) ?? `#/${view}`}
              aria-current={view === route.view ? 'page' : undefined}
              title={TASKS[view]}
              onClick={rememberWhereLeft}
            >
              {TITLES[view]}
            </a>
          ))}
        </nav>
        <ThemeSwitch theme={theme} onChange={setTheme} />
      </header>
      <main ref={main} tabIndex={-1} id="view">
        <CurrentView route={route} />
      </main>
      <footer class="colophon">
        <p>
          Everything happens on this page, in your browser: no file, key or answer leaves it. Built on{' '}
          <strong>Bloom</strong>, which reads and writes LevelDB’s Bloom filters, tables and databases in TypeScript, exact to the byte.
        </p>
      </footer>
    </>
  );
}

function skipTo(event: Event, element: HTMLElement | null): void {
  event.preventDefault();
  element?.focus();
}

function CurrentView({ route }: { readonly route: Route }) {
  const [lazy, setLazy] = useState<{ readonly view: View; readonly component: ComponentType<ViewProps> }>();
  const [problem, setProblem] = useState<string>();
  const { view, params } = route;
  useEffect(() => {
    if (view === 'filter' || lazy?.view === view) return;
    let current = true;
    setProblem(undefined);
    load[view]().then(
      (component) => current && setLazy({ view, component }),
      (error: unknown) => current && setProblem(error instanceof Error ? error.message : String(error)),
    );
    return () => void (current = false);
  }, [view]);
  if (view === 'filter') return <FilterView params={params} />;
  if (problem !== undefined) {
    return (
      <div class="page">
        <p role="alert" class="notice is-bad">
          This view could not be loaded: {problem}. Reload the page to try again.
        </p>
      </div>
    );
  }
  if (lazy?.view !== view) return <p class="page muted" role="status">Loading…</p>;
  const Component = lazy.component;
  return <Component params={params} />;
}

function ThemeSwitch({ theme, onChange }: { readonly theme: Theme; readonly onChange: (theme: Theme) => void }) {
  const icons: Record<Theme, string> = { system: '◐', light: '☀', dark: '☾' };
  const names: Record<Theme, string> = { system: 'As the system', light: 'Light', dark: 'Dark' };
  return (
    <fieldset class="segmented theme-switch">
      <legend class="visually-hidden">Theme</legend>
      {THEMES.map((name) => (
        <label key={name} title={names[name]}>
          <input type="radio" name="theme" checked={theme === name} onChange={() => onChange(name)} />
          <span>
            <span aria-hidden="true">{icons[name]}</span>
            <span class="visually-hidden">{names[name]}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Nine bits, four of them set. */
function Mark() {
  const set = new Set([0, 2, 4, 6]);
  return (
    <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
      {Array.from({ length: 9 }, (_, i) => (
        <circle key={i} cx={4.5 + (i % 3) * 7.5} cy={4.5 + Math.floor(i / 3) * 7.5} r={set.has(i) ? 3 : 2.2} class={set.has(i) ? 'is-set' : ''} />
      ))}
    </svg>
  );
}
