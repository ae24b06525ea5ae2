import { count } from '@bloom/report';
import { hexOf } from '../bytes/byte-forms.js';
import { WindowedRows } from '../controls/windowed-rows.js';
import type { TableClient } from './table-client.js';

const ROW_BYTES = 16;
const READ_ROWS = 256;

/** Bytes of the file, sixteen per row: where they are, in hexadecimal, and as text. */
export function HexView({ client, offset, length, title }: { readonly client: TableClient; readonly offset: number; readonly length: number; readonly title: string }) {
  const load = async (start: number, end: number): Promise<Uint8Array[]> => {
    const wanted = Math.min(end - start, READ_ROWS);
    const bytes = await client.worker.bytes(offset + start * ROW_BYTES, Math.min(wanted * ROW_BYTES, length - start * ROW_BYTES));
    return Array.from({ length: Math.ceil(bytes.length / ROW_BYTES) }, (_, i) => bytes.subarray(i * ROW_BYTES, (i + 1) * ROW_BYTES));
  };
  return (
    <>
      <p class="muted">{title}</p>
      <WindowedRows<Uint8Array>
        label="Bytes"
        rowCount={Math.ceil(length / ROW_BYTES)}
        columns="6rem 25rem 1fr"
        minWidth="44rem"
        headings={['at', 'bytes', 'text']}
        height={300}
        loadKey={`${offset} ${length}`}
        load={load}
        row={(bytes, number) => [
          <code key="at" class="muted">{count(offset + number * ROW_BYTES)}</code>,
          <code key="hex">{hexOf(bytes)}</code>,
          <code key="text">{Array.from(bytes, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·')).join('')}</code>,
        ]}
      />
    </>
  );
}
