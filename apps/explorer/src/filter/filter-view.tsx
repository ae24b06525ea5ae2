import './filter.css';
import { count, counted } from '@bloom/report';
import type { ComponentType } from 'preact';
import { useId, useMemo, useState } from 'preact/hooks';
import { NumberField, Segmented } from '../controls/controls.js';
import { saveAs } from '../controls/save-as.js';
import { useNear } from '../controls/use-near.js';
import { useSession, useSessionState } from '../session/use-session.js';
import { BuiltFilter, equalSize, neededProbes, POLICY_TITLES, verdictOf } from './built-filter.js';
import { FilterBench } from './filter-bench.js';
import { FilterStage } from './filter-stage.js';
import {
  addedKeys,
  distinctKeys,
  type FilterState,
  MAX_BITS_PER_KEY,
  MAX_EXPECTED_KEYS,
  MAX_PROBES_BY_HAND,
  paramsFromState,
  type PolicyName,
} from './filter-state.js';
import { KEY_SAMPLES, strangers } from './key-samples.js';
import { KeyName } from './key-name.js';
import { useProbeSteps } from './probe-steps.js';
import { RateCard } from './rate-card.js';
import { useBitsForRate } from './use-rates.js';

/** The number of keys shown as chips. */
const SHOWN_KEYS = 80;

export function FilterView() {
  const session = useSession();
  const state = useSessionState((all) => all.filter);
  const change = (part: Partial<FilterState>): void => {
    // Only the story’s filter has a length of its own. All other lengths follow from these settings.
    const isSized = 'bitsPerKey' in part || 'expectedKeys' in part || 'wantedRate' in part;
    session.change({ filter: { ...session.state.filter, ...(isSized && { byteLength: undefined }), ...part } });
  };
  const { isWhole } = useMemo(() => paramsFromState(state), [state]);

  const wanted = useBitsForRate(state.wantedRate, state.expectedKeys, state.sizing === 'rate');
  const bitsPerKey = state.sizing === 'rate' ? Math.min(wanted.answer ?? state.bitsPerKey, MAX_BITS_PER_KEY) : state.bitsPerKey;
  const policies: readonly PolicyName[] = state.policy === 'both' ? ['leveldb', 'blocked'] : [state.policy];
  const wantedSize = { bitsPerKey, expectedKeys: state.expectedKeys, probes: state.probes, ...(state.policy === 'leveldb' && { byteLength: state.byteLength }) };
  // Two policies are compared with the same number of bytes.
  const size = state.policy === 'both' ? equalSize(wantedSize) : wantedSize;
  const buildOf = (keys: readonly string[]): BuiltFilter[] => policies.map((policy) => new BuiltFilter(policy, size, keys));
  const sizeKey = JSON.stringify([state.policy, size]);
  const filters = useMemo(() => buildOf(state.keys), [sizeKey, state.keys]);
  const { isAdding, query } = state;
  const before = useMemo(() => (isAdding ? buildOf(state.keys.filter((key) => key !== query)) : undefined), [sizeKey, state.keys, isAdding, query]);
  const first = filters[0]!;
  const [message, setMessage] = useState('');

  const addKeys = (keys: readonly string[], query?: string): void => {
    const added = addedKeys(state.keys, keys);
    const isNew = added.keys.length > state.keys.length;
    change({ keys: added.keys, lostKeys: 0, isAdding: isNew && query !== undefined, ...(query !== undefined && { query }) });
    setMessage(added.message);
  };
  const stranger = (isWanted: (key: string) => boolean): string | undefined => {
    for (const key of strangers()) if (!state.keys.includes(key) && key !== state.query && isWanted(key)) return key;
    return undefined;
  };
  const show = (query: string): void => {
    setMessage('');
    change({ query, isAdding: false });
  };
  const showAdding = (): void => {
    const key = stranger(() => true);
    if (key !== undefined) addKeys([key], key);
  };
  const showNo = (): void => {
    const key = stranger((candidate) => verdictOf(first.probingOf(candidate)) === 'no');
    if (key === undefined) setMessage('This filter is so full that all bits of every key are 1. Give it more bits.');
    else show(key);
  };
  const showFalsePositive = (): void => {
    const key = stranger((candidate) => verdictOf(first.probingOf(candidate)) === 'false positive');
    if (key === undefined) setMessage('This filter gives no wrong maybe for any of 20,000 keys that were never added. Add keys or give it fewer bits, then try again.');
    else show(key);
  };

  const probings = useMemo(
    () => filters.map((filter, i) => (before === undefined ? filter.probingOf(query) : filter.additionOf(query, before[i]!))),
    [filters, before, query],
  );
  const steps = useProbeSteps(probings, Math.max(...probings.map(neededProbes)));
  const isOneOfTwo = filters.length > 1;

  return (
    <div class="page filter-view">
      <header class="filter-hero">
        <h1>“Have I seen this before?”</h1>
        <p class="lead">
          A Bloom filter answers this without storing what it has seen: it keeps only a row of bits. Give it words, its <em>keys</em>, and ask about any
          word. A <strong class="word-no">no</strong> is certain; a <strong class="word-maybe">maybe</strong> is not.
        </p>
      </header>
      <FilterStage
        state={state}
        filters={filters}
        before={before}
        probings={probings}
        steps={steps}
        message={message}
        onQuery={show}
        onAdd={(key) => addKeys([key], key)}
        onShowAdding={showAdding}
        onShowNo={showNo}
        onShowFalsePositive={showFalsePositive}
      />
      <div class={`workbench ${isOneOfTwo ? 'is-of-two' : ''}`}>
        <KeysCard state={state} onAdd={addKeys} onChange={change} />
        <SizeCard state={state} bitsPerKey={bitsPerKey} equalBits={size.bitsPerKey} wanted={wanted} filters={filters} isWhole={isWhole} onChange={change} />
        <RateCard filters={filters} bitsPerKey={size.bitsPerKey} expectedKeys={state.expectedKeys} hasOwnProbes={state.probes !== undefined} />
        {filters.map((filter, i) => (
          <FilterBench
            key={filter.policy}
            filter={filter}
            before={before?.[i]}
            probing={probings[i]!}
            shown={steps.shown}
            isOneOfTwo={isOneOfTwo}
          />
        ))}
      </div>
      <NearSection title="Five policies, the same keys" load={async () => (await import('./policies-card.js')).PoliciesCard} props={{ keys: state.keys, bitsPerKey: Math.min(size.bitsPerKey, MAX_BITS_PER_KEY), query: state.query }} />
      <NearSection title="One more key can spoil a filter" className="fit-card" load={async () => (await import('./fit-card.js')).FitCard} props={{ keys: state.fitKeys, pattern: state.fitPattern, onChange: change }} />
    </div>
  );
}

interface NearSectionProps<Props> {
  readonly title: string;
  readonly className?: string;
  readonly load: () => Promise<ComponentType<Props>>;
  readonly props: Props;
}

/** A card that is loaded when it comes near the window. */
function NearSection<Props extends object>({ title, className = '', load, props }: NearSectionProps<Props>) {
  const id = useId();
  const { ref, loaded: Card, problem } = useNear(load);
  return (
    <section class={`card ${className}`} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <div ref={ref} class="fit-near">
        {problem !== undefined && (
          <p role="alert" class="notice is-bad">
            This part could not be loaded: {problem}.
          </p>
        )}
        {Card === undefined ? problem === undefined && <p class="muted">Loading…</p> : <Card {...props} />}
      </div>
    </section>
  );
}

interface KeysCardProps {
  readonly state: FilterState;
  readonly onAdd: (keys: readonly string[]) => void;
  readonly onChange: (part: Partial<FilterState>) => void;
}

function KeysCard({ state, onAdd, onChange }: KeysCardProps) {
  const id = useId();
  const [typed, setTyped] = useState('');
  const { keys } = state;
  const rest = keys.length - SHOWN_KEYS;
  return (
    <section class="card keys-card" aria-labelledby={`${id}-title`}>
      <div class="card-head">
        <h2 id={`${id}-title`}>
          Keys added <span class="muted">{count(keys.length)}</span>
        </h2>
        <button type="button" class="is-quiet" disabled={keys.length === 0} onClick={() => onChange({ keys: [], isAdding: false, lostKeys: 0 })}>
          Clear all
        </button>
      </div>
      {state.lostKeys > 0 && (
        <p class="notice is-warn small" role="alert">
          This link was made with {counted(state.lostKeys, 'key')}, too much text for a link. Only the browser tab that made it has that text. Paste it again.
        </p>
      )}
      {keys.length > state.expectedKeys && (
        <p class="notice is-warn small">
          These are more than the {counted(state.expectedKeys, 'key')} that the filter is sized for. It has too many 1s and answers maybe too often.
        </p>
      )}
      {keys.length === 0 ? (
        <p class="muted">No keys yet. Every bit is 0, so the answer for any key is a certain no.</p>
      ) : (
        <ul class="chips key-chips" aria-label="Keys added">
          {keys.slice(0, SHOWN_KEYS).map((key) => (
            <li key={key} class="chip">
              <button type="button" class="is-link" title={`Ask about ${key}`} onClick={() => onChange({ query: key, isAdding: false })}>
                <KeyName name={key} />
              </button>
              <button
                type="button"
                class="chip-remove"
                aria-label={`Build the filter without ${key}`}
                title="A filter cannot remove a key. It is rebuilt without it."
                onClick={() => onChange({ keys: keys.filter((other) => other !== key), isAdding: false })}
              >
                ×
              </button>
            </li>
          ))}
          {rest > 0 && <li class="chip muted">and {count(rest)} more</li>}
        </ul>
      )}
      <form
        class="field"
        onSubmit={(event) => {
          event.preventDefault();
          onAdd(typed.split('\n'));
          setTyped('');
        }}
      >
        <label for={id}>Add keys, one per line; spaces count</label>
        <textarea id={id} rows={2} value={typed} spellcheck={false} placeholder="Paste as many as you like" onInput={({ currentTarget }) => setTyped(currentTarget.value)} />
        <div class="row">
          <button type="submit" disabled={distinctKeys(typed.split('\n')).length === 0}>
            Add
          </button>
        </div>
      </form>
      <div class="row samples">
        <span class="muted small">Or start from</span>
        {Object.entries(KEY_SAMPLES).map(([name, sample]) => (
          <button
            key={name}
            type="button"
            class="is-quiet small"
            onClick={() => {
              const sampleKeys = sample.keys();
              onChange({ keys: sampleKeys, expectedKeys: sampleKeys.length, isAdding: false, lostKeys: 0 });
            }}
          >
            {sample.title}
          </button>
        ))}
      </div>
    </section>
  );
}

interface SizeCardProps {
  readonly state: FilterState;
  readonly bitsPerKey: number;
  /** The common bits per key of both policies. */
  readonly equalBits: number;
  readonly wanted: { readonly answer: number | undefined; readonly isCurrent: boolean };
  readonly filters: readonly BuiltFilter[];
  readonly isWhole: boolean;
  readonly onChange: (part: Partial<FilterState>) => void;
}

function SizeCard({ state, bitsPerKey, equalBits, wanted, filters, isWhole, onChange }: SizeCardProps) {
  const id = useId();
  const first = filters[0]!;
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>Size</h2>
      <Segmented
        legend="Set the size by"
        name="sizing"
        value={state.sizing}
        options={[
          ['bits', 'Bits per key'],
          ['rate', 'Rate'],
        ]}
        onChange={(sizing) => onChange({ sizing, ...(sizing === 'bits' && { bitsPerKey }) })}
      />
      {state.sizing === 'bits' ? (
        <NumberField label="Bits per key" value={state.bitsPerKey} min={1} max={MAX_BITS_PER_KEY} sliderMax={20} hint="LevelDB’s usual choice is 10." onChange={(bits) => onChange({ bitsPerKey: bits })} />
      ) : (
        <NumberField
          label="Most absent keys that may get a maybe, in %"
          value={Number((state.wantedRate * 100).toPrecision(6))}
          min={0.0001}
          max={50}
          step={0.1}
          hint={
            !wanted.isCurrent
              ? 'Trying sizes…'
              : wanted.answer === undefined
                ? 'LevelDB’s 32-bit hash cannot reach that rate with any size. The last size that was found is shown.'
                : `LevelDB’s filter needs ${counted(wanted.answer, 'bit')} per key for that.`
          }
          onChange={(rate) => onChange({ wantedRate: rate / 100 })}
        />
      )}
      <NumberField label="Expected keys" value={state.expectedKeys} min={1} max={MAX_EXPECTED_KEYS} onChange={(expectedKeys) => onChange({ expectedKeys })} />
      {state.policy !== 'fitted' && <div class="field">
        <label class="row check-row">
          <input type="checkbox" checked={state.probes !== undefined} onChange={({ currentTarget }) => onChange({ probes: currentTarget.checked ? first.probes : undefined })} />
          Choose the number of probes yourself
        </label>
        {state.probes !== undefined && (
          <NumberField label="Probes per key" value={state.probes} min={1} max={MAX_PROBES_BY_HAND} sliderMax={30} onChange={(probes) => onChange({ probes })} />
        )}
      </div>}
      <Segmented
        legend="Policy"
        name="policy"
        value={state.policy}
        options={[
          ['leveldb', 'LevelDB’s'],
          ['fitted', 'Fitted'],
          ['blocked', 'One cache line'],
          ['both', 'LevelDB’s and one cache line'],
        ]}
        onChange={(policy) => onChange({ policy })}
      />
      <p class="muted small">
        {state.policy === 'leveldb' && state.byteLength !== undefined
          ? `${count(first.bits)} bits, as in the story. LevelDB’s filters have at least 64: choose another size to see one.`
          : state.policy === 'leveldb'
          ? `${count(state.expectedKeys)} × ${bitsPerKey} bits: ${count(first.bits)} bits. As in LevelDB, at least 64, and in whole bytes.`
          : state.policy === 'fitted'
          ? `A fitted filter is built for the ${counted(state.keys.length, 'key')} that were added, not for the expected number. Of several lengths and numbers of probes, it has those that let the fewest neighbours of its keys pass. LevelDB can use it.`
          : 'One cache line: all bits of a key are in the same 64 bytes, which a processor fetches at once. The filter consists of whole lines.'}
        {state.policy === 'both' && ` To make the two comparable, both have ${counted(first.bytes.length, 'byte')} here: ${counted(equalBits, 'bit')} for each expected key.`}
      </p>
      <Keep isWhole={isWhole} filters={filters} />
    </section>
  );
}

function Keep({ isWhole, filters }: { readonly isWhole: boolean; readonly filters: readonly BuiltFilter[] }) {
  const session = useSession();
  const [status, setStatus] = useState('');
  const copy = async (): Promise<void> => {
    session.saveUrl();
    try {
      await navigator.clipboard.writeText(location.href);
      setStatus(isWhole ? 'The link was copied. It opens exactly this filter.' : 'The link was copied without the keys, which are too many for a link. Only this browser tab has them.');
    } catch {
      setStatus('The browser does not let this page copy. The link is in the address bar.');
    }
  };
  return (
    <section class="keep" aria-label="Keep it">
      <div class="row">
        <button type="button" onClick={() => void copy()}>
          Copy link
        </button>
        {filters.map((filter) => (
          <button key={filter.policy} type="button" onClick={() => download(filter)}>
            {filters.length > 1 ? `Download ${POLICY_TITLES[filter.policy]}` : 'Download filter'}
          </button>
        ))}
      </div>
      <p role="status" class="muted small visually-hidden-when-empty">
        {status}
      </p>
    </section>
  );
}

function download(filter: BuiltFilter): void {
  saveAs(new Blob([filter.bytes.slice()], { type: 'application/octet-stream' }), `${filter.policy}-filter-${filter.keys.length}-keys.bin`);
}
