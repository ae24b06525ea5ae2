import { count } from '@bloom/report';

export function byteSize(bytes: number): string {
  if (bytes < 1024) return `${count(bytes)} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

/** A rate from 0 to 1 as a percentage with a useful number of digits. */
export function percent(rate: number): string {
  const value = rate * 100;
  if (value === 0) return '0%';
  if (value < 0.01) return '<0.01%';
  return `${value.toFixed(value < 1 ? 2 : value < 10 ? 1 : 0)}%`;
}
