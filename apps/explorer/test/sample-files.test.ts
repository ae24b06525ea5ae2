import { expect, test } from 'vitest';
import { weatherDatabase } from '../samples/weather-database.js';
import { SAMPLE_DATABASE_FILES } from '../src/session/sample-url.js';

test('the page knows all files of the sample database', () => {
  expect([...SAMPLE_DATABASE_FILES].sort()).toEqual(weatherDatabase().map(({ name }) => name).sort());
});
