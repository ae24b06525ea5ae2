import { expect, test } from 'vitest';
import { samples } from '../samples/samples.js';
import { weatherDatabase } from '../samples/weather-database.js';
import { SAMPLE_DATABASE_FILES, STORED_SAMPLE_FILES } from '../src/session/sample-url.js';

test('the page knows all files of the sample database', () => {
  expect([...SAMPLE_DATABASE_FILES].sort()).toEqual(weatherDatabase().map(({ name }) => name).sort());
});

test('the page knows all files of the sample of a profile', () => {
  const stored = samples().filter(({ path }) => path.startsWith('web/'));
  expect([...STORED_SAMPLE_FILES].sort()).toEqual(stored.map(({ path }) => path.slice('web/'.length)).sort());
});
