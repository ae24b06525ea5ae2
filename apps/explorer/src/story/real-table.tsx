import { count, counted, hexNumber } from '@bloom/report';
import { useId, useMemo } from 'preact/hooks';
import { byteSize, percent } from '../controls/sizes.js';
import { hashOf } from '../shell/route.js';
import { Guess, useGuess } from './guess.js';
import { Figure, useLit } from './highlight.js';
import type { LookedUpTable, TableLookup } from './looked-up-table.js';
import { Step, useStory } from './step.js';
import { ABSENT_KEY, PRESENT_KEY } from './story-state.js';
import { useNear } from '../controls/use-near.js';
import { pageUrl, useIsEmbedded } from './laboratory-link.js';

export function RealTable() {
  const [{ tableKey }, change] = useStory();
  const id = useId();
  const isEmbedded = useIsEmbedded();
  const hasGuessed = useGuess(6) !== undefined;
  const { ref, loaded: table, problem } = useNear(async () => (await import('./looked-up-table.js')).LookedUpTable.open());
  const lookup = useMemo(() => table?.lookUp(tableKey), [table, tableKey]);
  const filterBytes = table?.bytesOf('filter block') ?? 0;
  const share = table === undefined ? 0 : filterBytes / table.outline.byteLength;
  return (
    <Step
      number={6}
      title="This is what LevelDB stores"
      picture={
        <div ref={ref} class="near real-table">
          {problem !== undefined && (
            <p role="alert" class="notice is-bad">
              The table could not be loaded: {problem}.
            </p>
          )}
          {table === undefined || lookup === undefined ? problem === undefined && <p class="muted">Loading a table…</p> : <Picture table={table} lookup={lookup} tableKey={tableKey} hasGuessed={hasGuessed} />}
        </div>
      }
    >
      <p>
        LevelDB, a database, keeps its keys in files like this one, which has weather reports by city and date. The reports are in <Figure lights={['data']}>blocks</Figure>, and every 2 KiB of them have <Figure lights={['filter']}>a filter</Figure> with the usual 10 bits for each key.
      </p>
      <Guess step={6} question={`The file has ${table === undefined ? 'about 100 KiB' : byteSize(table.outline.byteLength)}. How much of that is filters?`} options={['about 3%', 'about 20%', 'about half']} right={0}>
        <Figure lights={['filter']}>
          {byteSize(filterBytes)}, which is {percent(share)}
        </Figure>
        . They stay in memory and save nearly all reads for reports that are not there. Look up a report:
      </Guess>
      {hasGuessed && (
        <>
          <div class="row">
            <button type="button" aria-pressed={tableKey === ABSENT_KEY} onClick={() => change({ tableKey: ABSENT_KEY })}>
              Oslo, 2027: not there
            </button>
            <button type="button" aria-pressed={tableKey === PRESENT_KEY} onClick={() => change({ tableKey: PRESENT_KEY })}>
              Oslo, 2026: there
            </button>
          </div>
          <div class="field">
            <label for={id}>Or any key</label>
            <input id={id} type="text" value={tableKey} autocomplete="off" autocapitalize="off" spellcheck={false} onInput={({ currentTarget }) => change({ tableKey: currentTarget.value })} />
          </div>
          <p role="status">{lookup !== undefined && <Outcome lookup={lookup} />}</p>
          <p>
            <a href={pageUrl(hashOf('table', new URLSearchParams({ sample: '1' })), isEmbedded)} {...(isEmbedded && { target: '_blank', rel: 'noopener' })}>
              Walk through this file
            </a>{' '}
            in the laboratory.
          </p>
        </>
      )}
    </Step>
  );
}

function Outcome({ lookup: { explanation, probes } }: { readonly lookup: TableLookup }) {
  const { block, filter, outcome, searched } = explanation;
  if (block === undefined) return <>This key comes after all others in the file. Nothing is read.</>;
  const zero = probes.find(({ isSet }) => !isSet)?.bit;
  if (filter?.answer === 'no') {
    return zero === undefined ? (
      <>This filter is empty: no block begins in its 2 KiB. Nothing is read.</>
    ) : (
      <>
        <Figure lights={[`byte ${zero >> 3}`]}>Bit {count(zero)}</Figure> of the filter is 0: <strong class="word-no">certainly not there</strong>. <Figure lights={['block']}>Block {count(block.number)}</Figure> is not read.
      </>
    );
  }
  return (
    <>
      All {probes.length} bits are 1: maybe. So <Figure lights={['block']}>block {count(block.number)}</Figure> is read{searched !== undefined && `, ${counted(block.size, 'byte')}`}:{' '}
      {outcome.kind === 'value' ? <strong>{new TextDecoder().decode(outcome.value)}</strong> : <strong class="word-false">the key is not there. A false positive.</strong>}
    </>
  );
}

const KINDS = ['data', 'filter', 'meta', 'metaindex', 'index'] as const;

function Picture({ table, lookup, tableKey, hasGuessed }: { readonly table: LookedUpTable; readonly lookup: TableLookup; readonly tableKey: string; readonly hasGuessed: boolean }) {
  const lit = useLit();
  const { kinds, offsets, sizes, byteLength } = table.outline;
  const { explanation, filter, probes } = lookup;
  const at = explanation.block?.offset;
  const isNo = explanation.filter?.answer === 'no';
  const answer = !hasGuessed ? undefined : explanation.filter?.answer;
  // Probes after the first 0 are not needed.
  const zero = probes.findIndex(({ isSet }) => !isSet);
  const needed = zero < 0 ? probes : probes.slice(0, zero + 1);
  const probed = new Map<number, boolean>();
  if (hasGuessed) for (const { bit, isSet } of needed) probed.set(bit >> 3, isSet && probed.get(bit >> 3) !== false);
  const proof = probes[zero]?.bit;
  const sound = [...probed].find(([, isSet]) => isSet)?.[0];
  const ones = sound === undefined ? undefined : filter?.[sound] === undefined ? undefined : hexNumber(filter[sound]);
  return (
    <>
      <p class="picture-title">One file, to scale</p>
      <svg class="file-strip" viewBox="0 0 1000 70" preserveAspectRatio="none" role="img" aria-label={`The file from its first byte to its last: data blocks, then ${byteSize(table.bytesOf('filter block'))} of filters, then the index.`}>
        {Array.from(offsets, (offset, i) => {
          const kind = KINDS[kinds[i]!]!;
          const isBlock = hasGuessed && offset === at;
          return (
            <rect
              key={offset}
              class={`strip-part is-${kind} ${lit.has(kind) || (isBlock && lit.has('block')) ? 'is-lit' : ''} ${isBlock ? (isNo ? 'is-spared' : 'is-read') : ''}`}
              x={(offset / byteLength) * 1000}
              width={Math.max(2, (sizes[i]! / byteLength) * 1000 - 1.5)}
              y={isBlock ? 2 : 12}
              height={isBlock ? 66 : 46}
            />
          );
        })}
      </svg>
      <ul class="legend small" aria-label="Parts of the file">
        <li>
          <span class="part-swatch is-data" aria-hidden="true" /> blocks of keys and values
        </li>
        <li>
          <span class="part-swatch is-filter" aria-hidden="true" /> filters
        </li>
        <li>
          <span class="part-swatch is-index" aria-hidden="true" /> index
        </li>
        {hasGuessed && at !== undefined && (
          <li>
            <span class={`part-swatch ${isNo ? 'is-spared' : 'is-read'}`} aria-hidden="true" /> the only block that can hold the key: {isNo ? 'not read' : 'read'}
          </li>
        )}
      </ul>
      {filter !== undefined && explanation.block !== undefined && (
        <>
          <p class="picture-title">
            {hasGuessed ? (
              <>
                “<span class="mono">{tableKey}</span>”? The filter for its block:
              </>
            ) : (
              'One of its filters; each pair of digits is eight bits:'
            )}
          </p>
          <p class="real-bytes" data-real-filter={explanation.filter?.answer === 'no' || explanation.filter?.answer === 'maybe' ? explanation.filter.number : ''}>
            {Array.from(filter, (byte, i) => {
              const isLast = i === filter.length - 1;
              const found = probed.get(i);
              return (
                <span key={i} class={`hex-byte ${lit.has(`byte ${i}`) ? 'is-lit' : ''} ${isLast ? 'hex-probes' : found === undefined ? (byte === 0 ? 'hex-empty' : '') : found ? 'hex-probed' : 'hex-zero'}`}>
                  {hexNumber(byte)}
                </span>
              );
            })}
          </p>
          <ul class="legend small" aria-label="Bytes of the filter">
            {hasGuessed && (
              <>
                {ones !== undefined && (
                  <li>
                    <span class="hex-byte hex-probed">{ones}</span> the bits that were checked in it are 1
                  </li>
                )}
                {proof !== undefined && (
                  <li>
                    <span class="hex-byte hex-zero">{hexNumber(filter[proof >> 3]!)}</span> one of its eight bits, bit {count(proof)}, is 0: the proof
                  </li>
                )}
              </>
            )}
            <li>
              <span class="hex-byte hex-probes">{hexNumber(filter.at(-1)!)}</span> number of bits checked per key
            </li>
          </ul>
        </>
      )}
      {hasGuessed && (
        <p class={`picture-note is-reason ${answer === 'no' || at === undefined ? 'is-no' : 'is-read'}`} data-fact="real-answer">
          {at === undefined ? 'Not in this file: nothing is read.' : answer === 'no' ? 'Certainly not: no block is read.' : explanation.outcome.kind === 'value' ? 'Maybe: one block is read, and the report is there.' : 'Maybe: one block is read, but the report is not there.'}
        </p>
      )}
    </>
  );
}
