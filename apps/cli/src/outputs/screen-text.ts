/** Text for screens of 80 columns. */

const COLUMNS = 80;
/** The length of the longest bar in columns. */
const BAR_COLUMNS = 40;

/** The character of bars. A dumb terminal may not show block characters. */
const BAR = process.env.TERM === 'dumb' ? '#' : '█';

/** Rows of a name and a text. Long texts continue in the next line, below their start. */
export function namedRows(rows: readonly (readonly [name: string, text: string])[]): string[] {
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.flatMap(([name, text]) =>
    wrapped(text, COLUMNS - width - 2).map((line, i) => `${(i === 0 ? name : '').padEnd(width)}  ${line}`.trimEnd()),
  );
}

/** The text in lines of up to `columns` characters, broken at spaces. A longer word has its own line. */
function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' && lines.length === 0 ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** One line for each share: its name, a bar, a figure. The largest share has the longest bar. */
export function bars(shares: readonly { readonly name: string; readonly share: number; readonly figure: string }[]): string[] {
  const width = Math.max(0, ...shares.map(({ name }) => name.length));
  const most = Math.max(Number.MIN_VALUE, ...shares.map(({ share }) => share));
  return shares.map(({ name, share, figure }) => {
    const length = share > 0 ? Math.max(1, Math.round((share / most) * BAR_COLUMNS)) : 0;
    return `  ${name.padStart(width)}  ${BAR.repeat(length)}${length > 0 ? ' ' : ''}${figure}`;
  });
}

/** A size in the unit that gives a short number. */
export function shortSize(bytes: number): string {
  for (const [unit, name] of [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB']] as const) {
    if (bytes >= unit) return `${Number.isInteger(bytes / unit) ? bytes / unit : (bytes / unit).toFixed(1)} ${name}`;
  }
  return `${bytes} B`;
}

/** The rows of a table: the first column is aligned left, the others right. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) => row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join('  '));
}
