import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { droppedFiles } from '../controls/dropped-files.js';
import { useSession, useSessionState } from '../session/use-session.js';
import { EmbeddedStep, StoryView } from '../story/story-view.js';
import { DOCUMENTATION, INSTALL, REPOSITORY } from './links.js';
import { type View, VIEWS } from './route.js';
import { type Theme, THEMES, useTheme } from './theme.js';

const TITLES: Record<View, string> = { story: 'Story', filter: 'Filter', table: 'Table', database: 'Database', storage: 'Storage', lookup: 'Lookup', live: 'Live', opfs: 'In this browser' };
const TASKS: Record<View, string> = {
  story: 'What a Bloom filter is, step by step',
  filter: 'Try a Bloom filter',
  table: 'Look inside one file',
  database: 'Walk through a folder',
  storage: 'Read what a browser stored',
  lookup: 'Follow one key',
  live: 'Watch a database at work',
  opfs: 'Keep a database in this browser',
};

type LazyView = Exclude<View, 'story'>;
const load: Record<LazyView, () => Promise<ComponentType>> = {
  filter: async () => (await import('../filter/filter-view.js')).FilterView,
  table: async () => (await import('../table/table-view.js')).TableView,
  database: async () => (await import('../database/database-view.js')).DatabaseView,
  storage: async () => (await import('../storage/storage-view.js')).StorageView,
  lookup: async () => (await import('../lookup/lookup-view.js')).LookupView,
  live: async () => (await import('../live/live-view.js')).LiveView,
  opfs: async () => (await import('../opfs/opfs-view.js')).OpfsView,
};

export function App() {
  const session = useSession();
  // Links to views contain the whole state.
  const { view: shown, embedded } = useSessionState((state) => state);
  const [theme, setTheme] = useTheme();
  const main = useRef<HTMLElement>(null);
  const lastView = useRef(shown);
  const isStep = shown === 'story' && embedded !== undefined;
  useEffect(() => {
    document.title = `${TITLES[shown]} · Bloom explorer`;
    // A link to a place within the view has focused it already.
    if (lastView.current !== shown && main.current?.contains(document.activeElement) !== true) main.current?.focus();
    lastView.current = shown;
  }, [shown]);
  useEffect(() => {
    // On the whole window, because a file dropped outside the view would make the browser leave the page.
    addEventListener('dragover', preventOpening);
    const drop = (event: DragEvent): void => {
      preventOpening(event);
      // A step that is embedded in another page does not turn into another view.
      if (!isStep && hasFiles(event)) void droppedFiles(event.dataTransfer!).then((dropped) => session.take(dropped));
    };
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', preventOpening);
      removeEventListener('drop', drop);
    };
  }, [session, isStep]);
  if (isStep) {
    return (
      <main id="view">
        <EmbeddedStep number={embedded} />
      </main>
    );
  }
  return (
    <>
      <header class="masthead">
        <a class="skip-link" href={session.linkTo(shown)} onClick={(event) => skipTo(event, main.current)}>
          Skip to the view
        </a>
        <a class="brand" href={session.linkTo('story')} onClick={() => session.saveUrl()}>
          <Mark />
          <span>
            Bloom <span class="brand-word">explorer</span>
          </span>
        </a>
        <nav aria-label="Views" class="views">
          {VIEWS.map((view) => (
            <a
              key={view}
              href={session.linkTo(view)}
              aria-current={view === shown ? 'page' : view === 'live' && shown === 'opfs' ? 'true' : undefined}
              title={TASKS[view]}
              onClick={() => session.saveUrl()}
            >
              {TITLES[view]}
            </a>
          ))}
        </nav>
        <ThemeSwitch theme={theme} onChange={setTheme} />
      </header>
      <main ref={main} tabIndex={-1} id="view">
        <CurrentView view={shown} />
      </main>
      <footer class="colophon">
        <p>
          This page works entirely in your browser: no file, key or answer leaves it. Built on{' '}
          <strong>Bloom</strong>, which reads and writes LevelDB’s Bloom filters, tables and databases in TypeScript, byte for byte.
        </p>
        <ul class="outward" aria-label="About Bloom">
          <li>
            <a href={INSTALL}>Install</a> <code>npm install @bloom/leveldb</code>
          </li>
          <li>
            <a href={DOCUMENTATION}>Documentation</a>
          </li>
          <li>
            <a href={REPOSITORY}>Repository</a>
          </li>
        </ul>
      </footer>
    </>
  );
}

/** Whether files are dragged. Text can be dragged into fields. */
function hasFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes('Files') === true;
}

function preventOpening(event: DragEvent): void {
  if (hasFiles(event)) event.preventDefault();
}

function skipTo(event: Event, element: HTMLElement | null): void {
  event.preventDefault();
  element?.focus();
}

function CurrentView({ view }: { readonly view: View }) {
  // Views are kept by name as they load, because a view that the user has left may load after the next one.
  const [loaded, setLoaded] = useState<Partial<Record<View, ComponentType>>>({});
  const [problem, setProblem] = useState<{ readonly view: View; readonly message: string }>();
  const Component = view === 'story' ? StoryView : loaded[view];
  useEffect(() => {
    if (view === 'story' || loaded[view] !== undefined) return;
    setProblem(undefined);
    load[view]().then(
      (component) => setLoaded((others) => ({ ...others, [view]: component })),
      (error: unknown) => setProblem({ view, message: error instanceof Error ? error.message : String(error) }),
    );
  }, [view]);
  if (Component !== undefined) return <Component />;
  if (problem?.view === view) {
    return (
      <div class="page">
        <p role="alert" class="notice is-bad">
          This view could not be loaded: {problem.message}. Reload the page to try again.
        </p>
      </div>
    );
  }
  return <p class="page muted" role="status">Loading…</p>;
}

function ThemeSwitch({ theme, onChange }: { readonly theme: Theme; readonly onChange: (theme: Theme) => void }) {
  const icons: Record<Theme, string> = { system: '◐', light: '☀', dark: '☾' };
  const names: Record<Theme, string> = { system: 'As in the system', light: 'Light', dark: 'Dark' };
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
