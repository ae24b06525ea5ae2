import { BloomFilterPolicy, buildFilter, type FilterPolicy, FittedBloomFilterPolicy } from '@bloom/policy';
import { BlockedBloomFilterPolicy } from '@bloom/policy-blocked';
import { FuseFilterPolicy } from '@bloom/policy-fuse';
import { RibbonFilterPolicy } from '@bloom/policy-ribbon';
import { count, counted } from '@bloom/report';
import { useMemo } from 'preact/hooks';
import { percent } from '../controls/sizes.js';
import { Rows } from '../controls/rows.js';
import { repositoryFolder } from '../shell/links.js';
import { measuredRate } from './built-filter.js';
import { KeyName } from './key-name.js';

const encoder = new TextEncoder();
/** The range of rates of a ribbon filter. */
const LEAST_RATE = 2 ** -16;
const MOST_RATE = 0.5;
/** The factor by which each bit per key lowers the rate of an ideal Bloom filter. */
const RATE_PER_BIT = 0.6185;

interface Row {
  readonly title: string;
  readonly folder: string;
  readonly about: string;
  readonly policy: FilterPolicy;
}

/** All policies of this project, configured for a number of bits per key. */
function policiesOf(bitsPerKey: number): readonly Row[] {
  const rate = Math.min(MOST_RATE, Math.max(LEAST_RATE, RATE_PER_BIT ** bitsPerKey));
  return [
    { title: 'LevelDB’s', folder: 'policy', about: 'Bits anywhere in the filter. LevelDB and its ports read it.', policy: new BloomFilterPolicy(bitsPerKey) },
    { title: 'Fitted', folder: 'policy', about: 'LevelDB’s, with the length and probes that suit its keys best. LevelDB and its ports read it.', policy: new FittedBloomFilterPolicy(bitsPerKey) },
    { title: 'One cache line', folder: 'policy-blocked', about: 'All bits of a key in the same 64 bytes: one memory access for a lookup.', policy: new BlockedBloomFilterPolicy(bitsPerKey) },
    { title: 'Fuse', folder: 'policy-fuse', about: 'Combines three 8-bit fingerprints for each key. The rate is always 0.4%.', policy: new FuseFilterPolicy() },
    { title: 'Ribbon', folder: 'policy-ribbon', about: `The fewest bytes for a given rate: here ${percent(rate)}, that of an ideal Bloom filter with ${counted(bitsPerKey, 'bit')} per key.`, policy: new RibbonFilterPolicy({ rate }) },
  ];
}

interface CardProps {
  readonly keys: readonly string[];
  readonly bitsPerKey: number;
  readonly query: string;
}

/** A filter of each policy for the keys that were added: its size, its rate and its answer. */
export function PoliciesCard({ keys, bitsPerKey, query }: CardProps) {
  const rows = useMemo(() => {
    const encoded = keys.map((key) => encoder.encode(key));
    return policiesOf(bitsPerKey).map((row) => {
      const filter = buildFilter(row.policy, encoded);
      return { ...row, filter, rate: measuredRate((key) => row.policy.keyMayMatch(key, filter)) };
    });
  }, [keys, bitsPerKey]);
  return (
    <>
      <p class="muted small">
        Each policy builds a filter of the {counted(keys.length, 'key')} that were added. With fewer than a few hundred keys, fuse and ribbon policies build Bloom filters, which are smaller then: start from 1,000 order numbers to see
        their own kind. In these filters, a key does not have bits of its own, so they are not drawn.
      </p>
      <div class="scrolls" tabIndex={0} role="region" aria-label="Policies compared">
        <Rows headings={['Policy', 'Bytes', 'Bits per key', 'Absent keys that get a maybe', ...(query === '' ? [] : [<>“<KeyName name={query} />”</>]), 'What it is']}>
          {rows.map(({ title, folder, about, policy, filter, rate }) => (
            <tr key={title} data-policy-row={title}>
              <th scope="row">
                <a href={repositoryFolder(`packages/${folder}`)}>{title}</a>
              </th>
              <td data-cell="bytes">{count(filter.length)}</td>
              <td>{keys.length === 0 ? '–' : ((filter.length * 8) / keys.length).toFixed(1)}</td>
              <td data-cell="rate">{percent(rate.passed / rate.asked)}</td>
              {query !== '' && <td>{policy.keyMayMatch(encoder.encode(query), filter) ? <strong class="word-maybe">maybe</strong> : <strong class="word-no">no</strong>}</td>}
              <td class="policy-about muted">{about}</td>
            </tr>
          ))}
        </Rows>
      </div>
    </>
  );
}
