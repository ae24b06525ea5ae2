import { weatherDatabase } from './weather-database.js';
import { weatherTable } from './weather-table.js';

/** A file that comes with the page. */
export interface SampleFile {
  /** Below `samples/`. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** All sample files, made by this project's own code: the same bytes each time. */
export function samples(): readonly SampleFile[] {
  return [
    { path: 'weather.ldb', bytes: weatherTable() },
    ...weatherDatabase().map(({ name, bytes }) => ({ path: `database/${name}`, bytes })),
  ];
}
