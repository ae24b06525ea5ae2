import './trial.css';
import { count, counted } from '@bloom/report';
import { useId, useRef } from 'preact/hooks';
import { BytesText } from '../bytes/bytes-text.js';
import type { ByteForm } from '../bytes/byte-forms.js';
import { NumberField, Progress, Segmented } from '../controls/controls.js';
import { Rows } from '../controls/rows.js';
import { byteSize, percent } from '../controls/sizes.js';
import { FailureNotice } from '../table/failure-notice.js';
import type { FilterChoice, TriedFilters, TriedPolicy, TrialStart } from './trial-facts.js';
import { comparedChoices, keyOfChoice, type TrialRun, type TrialState, useTrials } from './trial-run.js';

const POLICIES: readonly (readonly [TriedPolicy, string])[] = [
  ['leveldb', 'LevelDB’s filter'],
  ['fitted', 'LevelDB’s, fitted'],
  ['blocked', 'One cache line per key'],
];
/** The ranges of a filter. LevelDB can read any power of two. */
const RANGES: readonly (readonly [number, string])[] = [
  [2048, '2 KiB, LevelDB’s'],
  [8192, '8 KiB'],
  [32_768, '32 KiB'],
  [131_072, '128 KiB'],
  [2 ** 40, 'one for a whole table'],
];
const MAX_BITS = 40;

interface CardProps {
  readonly run: TrialRun;
  readonly what: 'table' | 'database';
  readonly form: ByteForm;
}

/** Trials of other filters for a table or database, built from its keys. */
export function TrialCard({ run, what, form }: CardProps) {
  const id = useId();
  const file = useRef<HTMLInputElement>(null);
  const state = useTrials(run);
  const { choice, start, progress, failure, asked } = state;
  return (
    <section class="card trial" aria-labelledby={`${id}-title`}>
      <div class="card-head">
        <h2 id={`${id}-title`}>What other filters would do</h2>
        <p class="muted small">They are built on this page from all keys of this {what}, for its existing blocks. The {what === 'table' ? 'file' : 'folder'} is not changed.</p>
      </div>
      <div class="trial-choice">
        <Segmented legend="Policy" name={`${id}-policy`} value={choice.policy} options={POLICIES} onChange={(policy) => run.choose({ policy })} />
        <NumberField label="Bits per key" value={choice.bitsPerKey} min={1} max={MAX_BITS} sliderMax={20} onChange={(bitsPerKey) => run.choose({ bitsPerKey })} />
        <div class="field">
          <label for={`${id}-range`}>One filter for</label>
          <select id={`${id}-range`} value={choice.filterRange} onChange={({ currentTarget }) => run.choose({ filterRange: Number(currentTarget.value) })}>
            {RANGES.map(([range, title]) => (
              <option key={range} value={range}>
                {title}
              </option>
            ))}
          </select>
        </div>
      </div>
      <div class="row">
        <button type="button" class={start === undefined ? 'is-primary' : ''} onClick={() => void run.start('random')}>
          {start === undefined ? 'Try with 10,000 absent keys' : asked === 'random' ? 'Try again with other keys' : 'Try with 10,000 absent keys'}
        </button>
        <button type="button" onClick={() => void run.start('neighbours')}>
          Try with neighbouring keys
        </button>
        <button type="button" onClick={() => file.current?.click()}>
          Try with keys of a file
        </button>
        <input
          ref={file}
          class="visually-hidden keys-input"
          type="file"
          tabIndex={-1}
          aria-hidden="true"
          onChange={({ currentTarget }) => {
            const given = currentTarget.files?.[0];
            if (given !== undefined) void run.take(given);
            currentTarget.value = '';
          }}
        />
        <span class="muted small">a text file with one key per line</span>
      </div>
      {choice.policy === 'fitted' && (
        <p class="muted small">
          A fitted filter has the length and the number of probes that let the fewest neighbours of its own keys pass. LevelDB can use it. Filters of more than 4,096 keys are not fitted.
        </p>
      )}
      {failure !== undefined && <FailureNotice failure={failure} title="The filters could not be tried." />}
      {progress !== undefined && <Progress label="Building filters and looking up keys" done={progress.done} total={progress.total} onCancel={() => run.cancel()} />}
      {start !== undefined && <Results state={state} start={start} form={form} />}
    </section>
  );
}

function titleOf({ policy, bitsPerKey }: FilterChoice, chosen: FilterChoice): string {
  const bits = `${counted(bitsPerKey, 'bit')} per key`;
  return policy === chosen.policy ? bits : policy === 'fitted' ? `Fitted, ${bits}` : `Not fitted, ${bits}`;
}

function Results({ state, start, form }: { readonly state: TrialState; readonly start: TrialStart; readonly form: ByteForm }) {
  const { choice, tried, asked } = state;
  const { keys, stored, without, otherBytes, damagedTables } = start;
  if (keys.count === 0) return <p class="notice">{asked === 'neighbours' ? 'No stored key has an absent neighbour, so there is nothing to look up.' : keys.present === 0 ? 'There are no keys to look up.' : `All ${counted(keys.present, 'key')} of ${typeof asked === 'object' ? asked.file : 'the file'} are stored here. A filter saves reads only for keys that are not.`}</p>;
  const rows: readonly (readonly [string, TriedFilters | undefined, FilterChoice | undefined])[] = [
    ['Without filters', without, undefined],
    [stored.filters === 0 ? 'As stored: none' : 'As stored', stored, undefined],
    ...comparedChoices(choice).map((other) => [titleOf(other, choice), tried.get(keyOfChoice(other)), other] as const),
  ];
  const most = Math.max(1, ...rows.map(([, row]) => row?.reads ?? 0));
  return (
    <>
      <div class="scrolls" tabIndex={0} role="region" aria-label="Filters compared">
        <Rows kind="trial-rows" headings={['Filters', `Blocks read for ${counted(keys.count, 'absent key')}`, 'Size', 'Share of the bytes', 'Bits per key, measured', 'Wrong maybe']}>
          {rows.map(([title, row, of]) => (
            <tr key={title} class={of?.policy === choice.policy && of.bitsPerKey === choice.bitsPerKey ? 'is-chosen' : ''} data-trial={of === undefined ? title.split(':')[0] : of.policy === choice.policy ? of.bitsPerKey : of.policy}>
              <th scope="row">{title}</th>
              {row === undefined ? (
                <td colSpan={5} class="muted">
                  …
                </td>
              ) : (
                <>
                  <td>
                    <span class="trial-reads">
                      <strong data-cell="reads">{count(row.reads)}</strong>
                      <span class="trial-bar" style={{ width: `${(row.reads / most) * 100}%` }} />
                    </span>
                  </td>
                  <td data-cell="size" title={counted(row.filterBytes, 'byte')}>{byteSize(row.filterBytes)}</td>
                  <td>{percent(row.filterBytes / Math.max(1, otherBytes + row.filterBytes))}</td>
                  <td>{row.filterBytes === 0 || row.entries === 0 ? '–' : ((row.filterBytes * 8) / row.entries).toFixed(1)}</td>
                  <td>{row.asked === 0 ? '–' : percent(row.wrong / row.asked)}</td>
                </>
              )}
            </tr>
          ))}
        </Rows>
      </div>
      <p class="small muted">
        {asked === 'random'
          ? 'The keys are stored keys with four random bytes after them'
          : asked === 'neighbours'
            ? 'The keys are the nearest absent neighbours of stored keys, one to three above or below them'
            : `The keys are those of ${asked.file}`}
        {keys.example !== undefined && (
          <>
            , such as <BytesText bytes={keys.example.bytes} byteLength={keys.example.byteLength} form={form} />
          </>
        )}
        .{keys.present > 0 && ` ${counted(keys.present, 'key is', 'keys are')} stored here and not looked up.`}
        {choice.policy === 'fitted'
          ? asked === 'neighbours' && ' Fitted filters were chosen to let few of them pass.'
          : ' A filter has at least 64 bits, so a filter of few keys has more bits per key than you chose.'}
      </p>
      {damagedTables.length > 0 && <p class="notice is-warn">Damaged tables, which are counted with their own filters: {damagedTables.join(', ')}.</p>}
      {without.failures > 0 && <p class="notice is-warn">{counted(without.failures, 'lookup')} failed without filters: they met a damaged block that may contain the key.</p>}
    </>
  );
}
