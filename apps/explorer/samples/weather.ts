/** Made-up weather: the same each time, and nobody's data. */
export const CITIES = [
  'accra', 'athens', 'berlin', 'bogota', 'cairo', 'dakar', 'delhi', 'dublin', 'hanoi', 'havana', 'helsinki', 'jakarta',
  'kyiv', 'lagos', 'lima', 'lisbon', 'london', 'madrid', 'manila', 'nairobi', 'oslo', 'ottawa', 'paris', 'prague',
  'quito', 'riga', 'rome', 'seoul', 'tokyo', 'tunis',
];

const SKIES = ['clear', 'cloudy', 'fog', 'rain', 'snow', 'storm', 'windy'];

/** A uint32 of its own for each pair of numbers. */
function mixed(a: number, b: number): number {
  let h = Math.imul(a + 0x9e3779b9, 0x85ebca6b) ^ Math.imul(b + 0x165667b1, 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  return (h ^ (h >>> 13)) >>> 0;
}

/** The date `day` days after the first of January 2026. */
export function dateOf(day: number): string {
  return new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10);
}

export function weatherKey(city: string, day: number): string {
  return `weather/${city}/${dateOf(day)}`;
}

/** @param revision another one, another report. */
export function weatherReport(city: string, day: number, revision = 0): string {
  const random = mixed(CITIES.indexOf(city) + revision * 1000, day);
  const celsius = ((random % 380) - 60) / 10;
  const sky = SKIES[(random >>> 9) % SKIES.length]!;
  return JSON.stringify({ celsius, sky, wind: (random >>> 12) % 60, humidity: 20 + ((random >>> 18) % 80) });
}
