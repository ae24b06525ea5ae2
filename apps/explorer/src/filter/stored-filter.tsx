import './stored-filter.css';
import { useId, useMemo, useState } from 'preact/hooks';
import { sameBytes } from '@bloom/bytes/internal';
import { MAX_PROBES } from '@bloom/policy';
import { count, counted } from '@bloom/report';
import { BytesText } from '../bytes/bytes-text.js';
import type { ByteForm } from '../bytes/byte-forms.js';
import { percent } from '../controls/sizes.js';
import type { StoredFilter } from '../table/table-facts.js';
import { FailureNotice } from '../table/failure-notice.js';
import { useLoaded } from '../worker/use-loaded.js';
import { BitGrid } from './bit-grid.js';
import { FilterBits } from './filter-bits.js';

/** The most keys that are named as having set a bit. */
const NAMED_KEYS = 6;

interface PictureProps {
  readonly number: number;
  readonly load: (number: number) => Promise<StoredFilter>;
  /** The key that is looked up. */
  readonly asked: Uint8Array | undefined;
  readonly form: ByteForm;
}

/** A filter of a table, the bits of a key in it, and the answer. */
export function StoredFilterPicture({ number, load, asked, form }: PictureProps) {
  const { value: stored, failure } = useLoaded(() => load(number), [number]);
  if (failure !== undefined) return <FailureNotice failure={failure} title="The filter could not be read." />;
  if (stored === undefined) return <p class="muted" role="status">Reading…</p>;
  if (stored.bytes === undefined) return <p class="notice is-warn">This filter is damaged, so it is not used. That costs a read but hides no key.</p>;
  if (stored.bytes.length < 2) return <p class="notice">This filter is empty: no block starts in its part of the file, so it has no keys, and its answer is always no.</p>;
  const probes = stored.bytes[stored.bytes.length - 1]!;
  if (probes === 0 || probes > MAX_PROBES) return <p class="notice is-warn">Its last byte, {probes}, is not a number of probes. LevelDB reserves such values for other kinds of filters and treats every key as a maybe.</p>;
  return <Bits stored={stored} bytes={stored.bytes} asked={asked} form={form} />;
}

function Bits({ stored, bytes, asked, form }: { readonly stored: StoredFilter; readonly bytes: Uint8Array; readonly asked: Uint8Array | undefined; readonly form: ByteForm }) {
  const id = useId();
  const [selected, setSelected] = useState<number>();
  const filter = useMemo(() => new FilterBits('leveldb', bytes), [bytes]);
  const identity = asked?.join();
  const probing = useMemo(() => {
    if (asked === undefined) return undefined;
    return { kind: 'asking' as const, ...filter.bitsOf(asked), wasAdded: stored.keys.some((key) => sameBytes(key, asked)) };
  }, [filter, identity]);
  const needed = probing === undefined ? 0 : probing.firstZero === undefined ? probing.probes.length : probing.firstZero + 1;
  const owners = selected === undefined ? [] : stored.keys.filter((key) => filter.bitsOf(key).probes.some(({ bit }) => bit === selected));
  const keyOf = (key: Uint8Array) => <BytesText bytes={key} form={form} />;
  return (
    <div class="stored-filter" data-answer={probing === undefined ? undefined : probing.firstZero === undefined ? 'maybe' : 'no'}>
      {probing !== undefined && asked !== undefined && (
        <>
          <div class={`notice ${probing.firstZero !== undefined ? 'is-good' : probing.wasAdded ? 'is-answer' : 'is-bad'}`} role="status">
            {probing.firstZero !== undefined ? (
              <p>
                <strong>Certainly not here.</strong> Bit {count(probing.probes[probing.firstZero]!.bit)} is 0. Each of the {counted(stored.keyCount, 'key')} set its own bits to 1, so {keyOf(asked)} is not among them.
              </p>
            ) : probing.wasAdded ? (
              <p>
                <strong>Maybe, and that is right.</strong> All its bits are 1, and {keyOf(asked)} is among the {counted(stored.keyCount, 'key')}.
              </p>
            ) : (
              <p>
                <strong>Maybe{stored.isEveryKey ? ', and this time it is wrong' : ''}.</strong> All its bits are 1{stored.isEveryKey ? <>, but other keys set them: {keyOf(asked)} is not among the {counted(stored.keyCount, 'key')}</> : ''}.
              </p>
            )}
          </div>
          <ol class="stored-probes" aria-label="Bits of the key">
            {probing.probes.map(({ bit, isSet }, i) => (
              <li key={i} class={i >= needed ? 'is-unneeded' : isSet ? 'is-one' : 'is-zero'}>
                <span class="muted">{i + 1}</span> bit {count(bit)} {i >= needed ? 'not checked' : isSet ? 'is 1' : 'is 0'}
              </li>
            ))}
          </ol>
        </>
      )}
      <BitGrid label={`Filter ${stored.number}`} filter={filter} probing={probing} shownProbes={needed} selected={selected} onSelect={setSelected} />
      <p class="small" role="status" id={id}>
        {selected === undefined ? (
          <span class="muted">
            {count(filter.setBits)} of {count(filter.bits)} bits are 1 ({percent(filter.setBits / filter.bits)}), {counted(filter.probes, 'probe')} per key, {counted(stored.keyCount, 'key')}. Click a bit, or move to it with the arrow keys, to see which keys set it to 1.
          </span>
        ) : owners.length === 0 ? (
          filter.isSet(selected) ? `Bit ${count(selected)} is 1${stored.isEveryKey ? '.' : '. The key that set it is not shown.'}` : `Bit ${count(selected)} is 0: no key uses it.`
        ) : (
          <>
            Bit {count(selected)} was set to 1 by{' '}
            {owners.slice(0, NAMED_KEYS).map((key, i) => (
              <span key={i}>
                {i > 0 && ', '}
                {keyOf(key)}
              </span>
            ))}
            {owners.length > NAMED_KEYS && ` and ${count(owners.length - NAMED_KEYS)} more`}.
          </>
        )}
      </p>
    </div>
  );
}
