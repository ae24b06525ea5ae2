/** One run of one law: tries the policy step by step, within a budget of time, and reports what it finds. */
import { type Random, seeded } from '@bloom/bytes';
import { interrupter, processorMs } from '#contract-host';
import type { FilterPolicy } from '../policy.js';
import { PolicyLawError } from './policy-law-error.js';
import { type Sample, samples, smallest } from './sample.js';
import { showAll } from './show.js';
import { Fault, TooSlow, Trial, Watch } from './trial.js';

/** What is wrong with a policy on a sample, or undefined. */
export type Check = (sample: Sample) => string | undefined;

/** What a step may take, in milliseconds, before it is interrupted and tried again with twice as long. */
const STEP_MS = 300;

/** What making an example smaller may take, in milliseconds. */
const SHRINK_MS = 1000;

interface Finding {
  readonly problem: string;
  /** Whether smaller examples are worth trying: not where each would take as long. */
  readonly isQuick: boolean;
}

export class LawRun {
  readonly seed: number;
  readonly random: Random;
  readonly watch = new Watch();
  readonly #law: string;
  readonly #drawSeed: number;
  readonly #budgetMs: number;
  readonly #runInterruptibly = interrupter();
  readonly #processorAt = processorMs();
  readonly #clockAt = performance.now();
  #trials = 0;
  #steps = 0;

  /** @param number of the law: each draws keys of its own, which no law before has shown to the policy. */
  constructor(law: string, number: number, seed: number, budgetMs: number) {
    this.#law = law;
    this.seed = seed;
    this.#drawSeed = Math.imul(seed, 64) + number;
    this.random = seeded(this.#drawSeed);
    this.#budgetMs = budgetMs;
  }

  /** An instance of the policy, to be called. */
  trial(makePolicy: () => FilterPolicy): Trial {
    return new Trial(makePolicy(), this.watch, this.#trials++);
  }

  /**
   * Runs one step of the law.
   *
   * @param find does what the policy may not return from.
   * @param limitMs what that may take: more than the default for a step with large lists.
   * @throws PolicyLawError when a problem is found, and when the policy throws or does not return.
   */
  step(find: () => string | undefined, limitMs = STEP_MS): void {
    const finding = this.#find(find, limitMs);
    if (finding !== undefined) this.fail(finding.problem);
  }

  /** Tries `check` on samples of every size, and shows the smallest that it fails on. */
  overSamples(check: Check): void {
    // All are drawn before: a generator that is interrupted cannot go on.
    const drawn = [...samples(this.#drawSeed)];
    let tried = 0;
    const finding = this.#find(
      () => {
        for (; tried < drawn.length; tried++) {
          const problem = check(drawn[tried]!);
          if (problem !== undefined) return problem;
        }
        return undefined;
      },
      STEP_MS,
      () => tried,
    );
    if (finding !== undefined) this.#failOn(drawn[tried]!, check, finding);
  }

  fail(problem: string): never {
    throw new PolicyLawError(this.#law, this.seed, problem);
  }

  /** @param place where `find` goes on when it is called again. */
  #find(find: () => string | undefined, limitMs: number, place: () => number = () => 0): Finding | undefined {
    this.#steps++;
    let attempt = 0;
    for (;;) {
      const remainingMs = this.#processorAt + this.#budgetMs - processorMs();
      if (remainingMs <= 0) {
        this.fail(
          `cut short: its budget of ${this.#budgetMs} ms was over in step ${this.#steps}. ` +
            'If the policy is meant to take so long, give a greater budgetMs',
        );
      }
      const outcome: { finding?: Finding; isTooSlow: boolean } = { isTooSlow: false };
      const startedAt = place();
      const processorAt = processorMs();
      this.watch.returned();
      const allowedMs = Math.min(limitMs * 2 ** attempt, remainingMs + STEP_MS) * this.#busyness();
      const hasEnded = this.#runInterruptibly(allowedMs, () => {
        try {
          const problem = find();
          if (problem !== undefined) outcome.finding = { problem, isQuick: true };
        } catch (error) {
          outcome.isTooSlow = error instanceof TooSlow;
          outcome.finding = { problem: said(error), isQuick: !outcome.isTooSlow };
        }
      });
      const { pending } = this.watch;
      // A machine that was busy for once is no fault of the policy.
      if (hasEnded && !(outcome.isTooSlow && attempt === 0)) return outcome.finding;
      const wasIdle = (processorMs() - processorAt) * 4 < limitMs && attempt < 3;
      if (!hasEnded && attempt > 0 && !wasIdle && pending !== undefined && pending.ms > limitMs) {
        return { problem: `${pending.call}, it did not return within ${Math.round(pending.ms)} ms`, isQuick: false };
      }
      attempt = place() === startedAt ? attempt + 1 : 0;
    }
  }

  /** How many times as long everything takes because the machine has other work too. */
  #busyness(): number {
    const workedMs = processorMs() - this.#processorAt;
    return workedMs < 50 ? 1 : Math.min(8, Math.max(1, (performance.now() - this.#clockAt) / workedMs));
  }

  #failOn(sample: Sample, check: Check, { problem, isQuick }: Finding): never {
    if (!isQuick) this.fail(`${problem}\nkeys: ${showAll(sample.keys)}`);
    const least = { sample, problem, isLeast: false };
    const endAt = processorMs() + SHRINK_MS;
    this.#runInterruptibly(SHRINK_MS * this.#busyness(), () => {
      least.isLeast = smallest(sample, (candidate) => {
        if (processorMs() > endAt) return undefined;
        const found = problemOf(check, candidate);
        if (found === undefined) return false;
        least.sample = candidate;
        least.problem = found;
        return true;
      });
    });
    const { keys, probes } = least.sample;
    const lines = [least.problem, `keys: ${showAll(keys)}`];
    if (probes.length > 0) lines.push(`beside them: ${showAll(probes)}`);
    if (!least.isLeast) lines.push(`There may be a smaller example: the search was cut short after ${SHRINK_MS} ms`);
    this.fail(lines.join('\n'));
  }
}

function problemOf(check: Check, sample: Sample): string | undefined {
  try {
    return check(sample);
  } catch (error) {
    return said(error);
  }
}

function said(error: unknown): string {
  if (error instanceof Fault) return error.message;
  try {
    return `it throws ${String(error)}`;
  } catch {
    return 'it throws a value that cannot be shown';
  }
}
