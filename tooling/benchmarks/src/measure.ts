import type { Contender } from './contender.js';

/** Wall time, or processor time, which depends less on other load. */
export type Clock = 'wall' | 'cpu';

/** How long to measure. */
export interface Pace {
  readonly clock: Clock;
  readonly rounds: number;
  /** Processor time of the warm-up of each contender. */
  readonly warmUpMs: number;
  /** Time of one contender in one round, unless a single pass takes longer. */
  readonly sampleMs: number;
}

/** A contender's job, measured alongside others. */
export interface Entrant {
  readonly contender: Contender;
  readonly job: string;
}

/** Nanoseconds per unit of each entrant, by round. */
export type Rounds = readonly (readonly number[])[];

/** The time limit of all rounds together, though at least three are run. */
const MOST_MS = 12_000;
const LEAST_ROUNDS = 3;

/** Measures the entrants alternately, so that other load on the machine affects all of them alike. */
export async function measure(entrants: readonly Entrant[], size: number, pace: Pace): Promise<Rounds> {
  const passes: number[] = [];
  let roundMs = 0;
  for (const entrant of entrants) {
    const { passMs, elapsedMs } = await warmUp(entrant, size, pace);
    const count = Math.max(1, Math.round(Math.min(pace.sampleMs / passMs, (MOST_WALL * pace.sampleMs) / elapsedMs)));
    passes.push(count);
    roundMs += count * elapsedMs;
  }
  const count = Math.max(LEAST_ROUNDS, Math.min(pace.rounds, Math.floor(MOST_MS / roundMs)));
  const rounds = [];
  for (let round = 0; round < count; round++) {
    const times = [];
    for (const [i, { contender, job }] of entrants.entries()) {
      const timing = await contender.time(job, size, passes[i]!);
      times.push(timing[pace.clock] / timing.units);
    }
    rounds.push(times);
  }
  return rounds;
}

/**
 * A job that waits for the disk, or whose passes are prepared for longer than they take, uses little of the time that is measured. So
 * all the time that has passed ends its warm-up and its samples as well.
 */
const MOST_WALL = 5;

/** What one pass takes. */
interface Pass {
  readonly passMs: number;
  /** With its preparation. */
  readonly elapsedMs: number;
}

async function warmUp({ contender, job }: Entrant, size: number, pace: Pace): Promise<Pass> {
  let passes = 1;
  for (let left = 1; ; ) {
    const start = performance.now();
    const { wall, cpu } = await contender.time(job, size, passes);
    const elapsedMs = (performance.now() - start) / passes;
    const passMs = wall / 1e6 / passes;
    left -= Math.max(cpu / 1e6 / pace.warmUpMs, (elapsedMs * passes) / pace.warmUpMs / MOST_WALL);
    if (left <= 0) return { passMs, elapsedMs };
    passes = Math.max(1, Math.min(passes * 4, Math.ceil((left * pace.warmUpMs) / passMs)));
  }
}

/** The median of some values, and their range. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly greatest: number;
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
  return { median, least: sorted[0]!, greatest: sorted.at(-1)! };
}
