import { createInterface } from 'node:readline';

/** One job at one size, ready to run repeatedly. */
export interface Work {
  /** Units, such as keys or entries, per run. */
  readonly units: number;
  run(): void | Promise<void>;
  /** A checksum, a uint32, of what the last `run` did. It is the same for every contender. */
  check(): number;
}

/** Prepares the work. This is not measured. */
export type Job = (size: number) => Work | Promise<Work>;

export type Jobs = Readonly<Record<string, Job>>;

/** Answers requests on standard input: the protocol is in the first lines of leveldb-bench.cc. */
export async function serve(jobs: Jobs): Promise<void> {
  const ready = new Map<string, Work>();
  for await (const line of createInterface({ input: process.stdin })) {
    const [verb, job = '', size, passes] = line.split(' ');
    const make = jobs[job];
    if (make === undefined) throw new Error(`no such job: ${job}`);
    const name = `${job} ${size}`;
    let work = ready.get(name);
    if (work === undefined) {
      work = await make(Number(size));
      ready.set(name, work);
    }
    if (verb === 'check') {
      await work.run();
      process.stdout.write(`check ${work.check() >>> 0}\n`);
    } else {
      process.stdout.write(`time ${await time(work, Number(passes))} ${work.units * Number(passes)}\n`);
    }
  }
}

/** @returns wall time and processor time in nanoseconds. */
async function time(work: Work, passes: number): Promise<string> {
  const cpu = process.cpuUsage();
  const start = process.hrtime.bigint();
  for (let pass = 0; pass < passes; pass++) {
    const running = work.run();
    if (running !== undefined) await running;
  }
  const wall = process.hrtime.bigint() - start;
  const { user, system } = process.cpuUsage(cpu);
  return `${wall} ${(user + system) * 1000}`;
}
