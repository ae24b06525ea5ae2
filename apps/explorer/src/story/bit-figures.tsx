import { Fragment } from 'preact';
import { Figure } from './highlight.js';

/** Text such as “bits 4, 17 and 30”, in which each number highlights its bit. */
export function BitFigures({ bits: unsorted }: { readonly bits: readonly number[] }) {
  const bits = [...unsorted].sort((a, b) => a - b);
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
