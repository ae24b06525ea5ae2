/** Numbers and columns for a reader. */
const isColoured = process.stdout.isTTY && !process.env.NO_COLOR;

export function bold(text: string): string {
  return isColoured ? `\x1b[1m${text}\x1b[22m` : text;
}

export function dim(text: string): string {
  return isColoured ? `\x1b[2m${text}\x1b[22m` : text;
}

/** Prints rows with their columns aligned: to the left, except for those in `right`. */
export function table(rows: readonly (readonly string[])[], right: readonly number[] = []): void {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  for (const row of rows) {
    const cells = row.map((cell, i) => (right.includes(i) ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)));
    console.log(`  ${cells.join('   ')}`.trimEnd());
  }
}

/** 1234567 as 1,234,567. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}

export function percent(rate: number): string {
  return `${(rate * 100).toFixed(2)}%`;
}

/** A factor, with two digits if it is small. */
export function times(factor: number): string {
  return factor < 10 ? factor.toFixed(1) : count(Math.round(factor));
}
