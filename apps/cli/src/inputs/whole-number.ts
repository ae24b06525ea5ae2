import { InvalidArgumentError } from 'commander';

/** Reads an option that is a whole number from `least` to `most`. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
    if (value >= least && value <= most) return value;
    const range = most === Number.MAX_SAFE_INTEGER ? `, at least ${least}` : ` from ${least} to ${most}`;
    throw new InvalidArgumentError(`It must be a whole number${range}.`);
  };
}

/** Reads an option that is a number from `least` to `most`. */
export function realNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d*\.?\d+(?:e-?\d+)?$/i.test(text) ? Number(text) : NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a number from ${Number(least.toPrecision(3))} to ${most}.`);
  };
}
