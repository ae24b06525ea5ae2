/** One run of one law: tries the policy step by step, within a budget of time, and reports what it finds. */
import { type Random, seeded } from '@bloom/bytes/internal';
import { interrupter, processorMs } from '#contract-host';
import type { FilterPolicy } from '../policy.js';
import { PolicyLawError } from './policy-law-error.js';
import { type Sample, samples, smallest } from './sample.js';
import { showAll } from './shown-bytes.js';
import { Fault, TooSlow, Trial, Watch } from './trial.js';

// Taken at load: test suites replace the host's functions with fake ones.
const now = /* @__PURE__ */ performance.now.bind(performance);

/** Returns what is wrong with a policy on a sample, or undefined. */
export type Check = (sample: Sample) => string | undefined;

/** Milliseconds after which a step is interrupted and tried again with twice the time. */
const STEP_MS = 300;

/** Milliseconds that the search for a smaller example may take. */
const SHRINK_MS = 1000;

interface Finding {
  readonly problem: string;
  /** Whether smaller examples are worth trying: not if each may take as long. */
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
  readonly #clockAt = now();
  #trials = 0;
  #steps = 0;

  /** @param number the law's number: each law draws keys of its own, which the policy has not seen in an earlier law. */
  constructor(law: string, number: number, seed: number, budgetMs: number) {
    this.#law = law;
    this.seed = seed;
    this.#drawSeed = Math.imul(seed, 64) + number;
    this.random = seeded(this.#drawSeed);
    this.#budgetMs = budgetMs;
  }

  /** Wraps a new instance of the policy for the calls of this run. */
  trial(makePolicy: () => FilterPolicy): Trial {
    return new Trial(makePolicy(), this.watch, this.#trials++);
  }

  /**
   * Runs one step of the law.
   *
   * @param find calls the policy, which may not return, and returns the problem that it finds. A step that was interrupted is
   *   tried again with the same draws, and {@link LawRun.random} may only be used between steps: what the next ones draw must not
   *   depend on how busy the machine is.
   * @param limitMs how long that may take: more than the default for a step with large lists.
   * @throws PolicyLawError when `find` returns a problem, and when the policy throws or does not return.
   */
  step(find: (random: Random) => string | undefined, limitMs = STEP_MS): void {
    const seed = this.random.uint32();
    const finding = this.#find(() => find(seeded(seed)), limitMs);
    if (finding !== undefined) this.fail(finding.problem);
  }

  /** Tries `check` on samples of every size, and fails with the smallest one for which it finds a problem. */
  overSamples(check: Check): void {
    // All samples are drawn first: a generator that was interrupted cannot continue.
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

  /** @param place the sample at which `find` continues when it is called again. */
  #find(find: () => string | undefined, limitMs: number, place: () => number = () => 0): Finding | undefined {
    this.#steps++;
    let attempt = 0;
    for (;;) {
      const remainingMs = this.#processorAt + this.#budgetMs - processorMs();
      if (remainingMs <= 0) {
        this.fail(
          `stopped early: its budget of ${this.#budgetMs} ms was used up in step ${this.#steps}. ` +
            'If the policy is meant to take so long, set a larger budgetMs',
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
      // The machine may have been busy just once, so the first slow attempt does not count.
      if (hasEnded && !(outcome.isTooSlow && attempt === 0)) return outcome.finding;
      const wasIdle = (processorMs() - processorAt) * 4 < limitMs && attempt < 3;
      if (!hasEnded && attempt > 0 && !wasIdle && pending !== undefined && pending.ms > limitMs) {
        return { problem: `${pending.call} did not return within ${Math.round(pending.ms)} ms`, isQuick: false };
      }
      attempt = place() === startedAt ? attempt + 1 : 0;
    }
  }

  /** The factor by which other programs on the machine slow this one down, from 1 to 8. */
  #busyness(): number {
    const workedMs = processorMs() - this.#processorAt;
    return workedMs < 50 ? 1 : Math.min(8, Math.max(1, (now() - this.#clockAt) / workedMs));
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
    if (probes.length > 0) lines.push(`other keys: ${showAll(probes)}`);
    if (!least.isLeast) lines.push(`There may be a smaller example: the search was stopped after ${SHRINK_MS} ms`);
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
    return `the policy throws ${String(error)}`;
  } catch {
    return 'the policy throws a value that cannot be shown';
  }
}
