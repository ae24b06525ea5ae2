import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { weatherDatabase } from './weather-database.js';
import { weatherTable } from './weather-table.js';

const STORED = join(import.meta.dirname, 'web');

/** A file that comes with the page. */
export interface SampleFile {
  /** Below `samples/`. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** All sample files: the same bytes each time. All but those that a browser stored are made by this project's own code. */
export function samples(): readonly SampleFile[] {
  return [
    { path: 'weather.ldb', bytes: weatherTable() },
    ...weatherDatabase().map(({ name, bytes }) => ({ path: `database/${name}`, bytes })),
    ...storedSample(),
  ];
}

/** What two sites stored in Chromium: see `write-stored-sample.ts`. */
function storedSample(): SampleFile[] {
  return readdirSync(STORED, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
    .map((path) => ({ path: `web/${relative(STORED, path).replaceAll(sep, '/')}`, bytes: readFileSync(path) }));
}
