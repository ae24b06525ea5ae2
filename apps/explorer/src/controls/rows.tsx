import type { ComponentChildren } from 'preact';

interface RowsProps {
  readonly label?: string;
  /** Additional CSS classes. */
  readonly kind?: string;
  readonly caption?: ComponentChildren;
  /** An empty heading is for the column of row names. */
  readonly headings: readonly ComponentChildren[];
  readonly children: ComponentChildren;
}

/** A table with a heading for each column. */
export function Rows({ label, kind = '', caption, headings, children }: RowsProps) {
  return (
    <table class={`rows ${kind}`} aria-label={label}>
      {caption !== undefined && <caption class="small muted">{caption}</caption>}
      <thead>
        <tr>{headings.map((heading, i) => (heading === '' ? <td key={i} /> : <th key={i} scope="col">{heading}</th>))}</tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}
