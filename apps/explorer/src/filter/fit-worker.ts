import { serveCalls } from '../worker/serve-calls.js';
import type { Work } from '../worker/calls.js';
import { FitMeasurement } from './fit-curve.js';
import type { KeyPattern } from './fit-patterns.js';

const measurement = new FitMeasurement();

const methods = {
  points: (_: Work, pattern: KeyPattern, keys: readonly number[]) => keys.map((number) => measurement.point(pattern, number)),
};

export type FitMethods = typeof methods;

serveCalls(methods);
