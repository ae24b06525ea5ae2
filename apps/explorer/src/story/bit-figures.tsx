import { Fragment } from 'preact';
import { Figure } from './lit.js';

/** “bits 4, 17 and 30”, each of which shows its place. */
export function BitFigures({ bits }: { readonly bits: readonly number[] }) {
  return (
    <>
      {bits.length === 1 ? 'bit ' : 'bits '}
      {bits.map((bit, i) => (
        <Fragment key={bit}>
          {i === 0 ? '' : i === bits.length - 1 ? ' and ' : ', '}
          <Figure lights={[bit]}>{bit}</Figure>
        </Fragment>
      ))}
    </>
  );
}
