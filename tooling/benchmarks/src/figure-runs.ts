// Runs figures: the same work in this project and in others, alternating between them.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Contender } from './contender.js';
import { writeDatabase } from './database.js';
import type { ContenderName, Figure, Other } from './figures.js';
import { measure, type Pace } from './measure.js';
import { compileNative } from './native-program.js';
import { compare, type Comparison } from './report.js';

/** How the figures of one run are measured, and where. */
export interface FigureRunSettings {
  readonly packageFolder: string;
  /** The folder for the files of contenders. */
  readonly folder: string;
  readonly isQuick: boolean;
  readonly pace: Pace;
}

/** Runs figures on this machine, with the contenders that it can run. */
export class FigureRuns {
  /** Contenders that this machine cannot run, and why. */
  readonly unavailable = new Map<ContenderName, string>();
  readonly #settings: FigureRunSettings;
  readonly #native: ReturnType<typeof compileNative>;

  constructor(settings: FigureRunSettings) {
    this.#settings = settings;
    this.#native = compileNative(settings.packageFolder);
    if ('unavailable' in this.#native) this.unavailable.set('leveldb', this.#native.unavailable);
  }

  /** Runs one figure after another, and prints their names. */
  async run(figures: readonly Figure[]): Promise<Comparison[]> {
    const comparisons: Comparison[] = [];
    for (const [i, figure] of figures.entries()) {
      process.stderr.write(`${i + 1}/${figures.length} ${figure.name}: ${figure.what}\n`);
      comparisons.push(...(await this.#runFigure(figure)));
    }
    return comparisons;
  }

  /** The version of LevelDB; undefined if it is not installed. */
  async levelDbVersion(): Promise<string | undefined> {
    if (this.unavailable.has('leveldb')) return undefined;
    const contender = this.#start('leveldb');
    try {
      return await contender.version();
    } finally {
      await contender.close();
    }
  }

  #start(name: ContenderName): Contender {
    const { folder, packageFolder } = this.#settings;
    const work = join(folder, name);
    mkdirSync(work, { recursive: true });
    if (name !== 'leveldb') {
      return new Contender(name, [process.execPath, join(packageFolder, 'dist/contenders', `${name}.js`), work, folder]);
    }
    if ('unavailable' in this.#native) throw new Error(this.#native.unavailable);
    return new Contender(name, [this.#native.path, work]);
  }

  /** Each figure gets new processes, so that earlier figures do not influence what the engine optimises. */
  async #runFigure(figure: Figure): Promise<Comparison[]> {
    const { folder, isQuick, pace } = this.#settings;
    const others = figure.others.filter(({ contender }) => !this.unavailable.has(contender));
    const names = new Set<ContenderName>(['bloom', ...others.map(({ contender }) => contender)]);
    const contenders = new Map([...names].map((name) => [name, this.#start(name)]));
    try {
      const comparisons: Comparison[] = [];
      for (const size of isQuick ? figure.quickSizes : figure.sizes) {
        const present = others.filter(({ maxSize = Infinity }) => size <= maxSize);
        if (present.length === 0) continue;
        if (figure.input !== undefined) await writeDatabase(folder, size, figure.input);
        const entrants = [{ contender: 'bloom' as const, job: figure.name }, ...present].map(({ contender, job }) => ({
          contender: contenders.get(contender)!,
          job: job ?? figure.name,
        }));
        const sums = [];
        for (const { contender, job } of entrants) sums.push(await contender.check(job, size));
        mustAgree(figure, present, size, sums);
        comparisons.push(...compare(figure, present, size, await measure(entrants, size, pace)));
      }
      return comparisons;
    } finally {
      for (const contender of contenders.values()) await contender.close();
    }
  }
}

/** Checks that all contenders did the same work. */
function mustAgree(figure: Figure, others: readonly Other[], size: number, sums: readonly number[]): void {
  for (const [i, { contender, answersDiffer = false }] of others.entries()) {
    if (!answersDiffer && sums[i + 1] !== sums[0]) {
      throw new Error(`${figure.name}, ${size}: ours gives ${sums[0]}, ${contender} ${sums[i + 1]}`);
    }
  }
}
