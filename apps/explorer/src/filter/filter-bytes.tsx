import { hexNumber } from '@bloom/report';
import { WindowedRows } from '../controls/windowed-rows.js';
import type { BuiltFilter } from './built-filter.js';

/** The number of bytes in a row, few enough for a narrow screen. */
const ROW_BYTES = 8;

/** The filter in its stored form: its bits, and the number of probes in the last byte. */
export function FilterBytes({ filter, probedBytes, firstZeroByte }: { readonly filter: BuiltFilter; readonly probedBytes: ReadonlySet<number>; readonly firstZeroByte: number | undefined }) {
  const { bytes } = filter;
  const rows = Math.ceil(bytes.length / ROW_BYTES);
  const firstProbed = Math.min(...probedBytes);
  return (
    <WindowedRows
      label="Bytes of the filter"
      rowCount={rows}
      columns="clamp(2.3rem, 12vw, 3.2rem) 1fr"
      headings={['at', 'bytes']}
      height={286}
      loadKey={`${rows} ${filter.setBits} ${[...probedBytes].join()} ${firstZeroByte}`}
      load={(start, end) => Array.from({ length: end - start }, (_, i) => start + i)}
      selected={Number.isFinite(firstProbed) ? Math.floor(firstProbed / ROW_BYTES) : undefined}
      row={(number) => [
        <code key="at" class="muted">{hexNumber(number * ROW_BYTES, 4)}</code>,
        <code key="bytes">
          {Array.from(bytes.subarray(number * ROW_BYTES, (number + 1) * ROW_BYTES), (byte, i) => {
            const at = number * ROW_BYTES + i;
            const isLast = at === bytes.length - 1;
            const isProbed = probedBytes.has(at);
            const kind = isLast ? 'hex-probes' : at === firstZeroByte ? 'hex-zero' : isProbed ? 'hex-probed' : byte === 0 ? 'hex-empty' : '';
            const title = isLast ? 'the number of probes' : at === firstZeroByte ? 'probed: the bit is 0' : isProbed ? 'probed' : undefined;
            return (
              <span key={i} class={`hex-byte ${kind}`} title={title} data-byte={at}>
                {hexNumber(byte)}
              </span>
            );
          })}
        </code>,
      ]}
    />
  );
}
