import { useEffect, useState } from 'preact/hooks';
import { useSession } from '../session/use-session.js';

const DELAY_MS = 150;
/** The delay before the curve is measured, so that it starts when the user pauses. */
const CURVE_DELAY_MS = 500;
/** From this many keys on, measuring a rate takes a second. */
const MANY_KEYS = 100_000;

/** The fewest bits per key that reach `rate`. While they are computed, the last answer. A current answer that is undefined means that none do. */
export function useBitsForRate(rate: number, keys: number, isWanted: boolean): { readonly answer: number | undefined; readonly isCurrent: boolean } {
  const { wishes } = useSession();
  const [state, setState] = useState<{ readonly key: string; readonly answer: number | undefined }>();
  const key = `${rate} ${keys}`;
  useEffect(() => {
    if (!isWanted) return;
    let current = true;
    const timer = setTimeout(() => {
      wishes.bitsPerKey(rate, keys).then((answer) => current && setState({ key, answer }), () => undefined);
    }, DELAY_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [key, isWanted]);
  return { answer: state?.answer, isCurrent: state?.key === key };
}

/** The bits per key at which the curve of LevelDB's filter is measured, starting with `first`. */
function curveBits(first: number, keys: number, most: number): readonly number[] {
  const step = keys > MANY_KEYS ? 4 : 2;
  const bits = Array.from({ length: Math.floor(most / step) }, (_, i) => (i + 1) * step);
  return [...new Set([first, 1, ...bits, most])];
}

/** Rates by bits per key, and whether the whole curve is measured. */
export interface DesignedRates {
  readonly rates: ReadonlyMap<number, number>;
  readonly isWhole: boolean;
}

/** Measures the rates of LevelDB's filters of `keys` keys once they are wanted: first that of `first` bits per key, then the others. */
export function useDesignedRates(first: number, keys: number, most: number, areWanted: boolean): DesignedRates {
  const { rates } = useSession();
  const [state, setState] = useState<{ readonly keys: number; readonly rates: ReadonlyMap<number, number> }>({ keys, rates: new Map() });
  useEffect(() => {
    if (!areWanted) return;
    let isOver = false;
    const work = async (): Promise<void> => {
      for (const bits of curveBits(first, keys, most)) {
        const rate = await rates.rate(bits, keys);
        if (isOver) return;
        setState((before) => ({ keys, rates: new Map(before.keys === keys ? before.rates : []).set(bits, rate) }));
      }
    };
    // The measurement is cancelled by the next one.
    const timer = setTimeout(() => void work().catch(() => undefined), CURVE_DELAY_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
      rates.cancel();
    };
  }, [first, keys, most, areWanted]);
  const measured: ReadonlyMap<number, number> = state.keys === keys ? state.rates : new Map();
  return { rates: measured, isWhole: curveBits(first, keys, most).every((bits) => measured.has(bits)) };
}
