import { createInterface } from 'node:readline';

/** One job at one size, ready to run repeatedly. */
export interface Work {
  /** Units, such as keys or entries, per run. */
  readonly units: number;
  /** Prepares each run. This is not measured. */
  before?(): Promise<void>;
  run(): void | Promise<void>;
  /** Replaces the time of the last run as what is measured; in nanoseconds. */
  measured?(): number;
  /** A checksum, a uint32, of what the last `run` did. It is the same for every contender. */
  check(): number | Promise<number>;
}

/** Prepares the work. This is not measured. */
export type Job = (size: number) => Work | Promise<Work>;

export type Jobs = Readonly<Record<string, Job>>;

/** Answers requests on standard input. The protocol is described at the top of leveldb-bench.cc. */
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
      await work.before?.();
      await work.run();
      process.stdout.write(`check ${(await work.check()) >>> 0}\n`);
    } else {
      process.stdout.write(`time ${await time(work, Number(passes))} ${work.units * Number(passes)}\n`);
    }
  }
}

/** @returns wall time and processor time in nanoseconds. */
async function time(work: Work, passes: number): Promise<string> {
  if (work.before === undefined) return timePasses(work, passes);
  let wall = 0;
  let cpu = 0;
  for (let pass = 0; pass < passes; pass++) {
    await work.before();
    const times = (await timePasses(work, 1)).split(' ');
    wall += Number(times[0]);
    cpu += Number(times[1]);
  }
  return `${wall} ${cpu}`;
}

async function timePasses(work: Work, passes: number): Promise<string> {
  const cpu = process.cpuUsage();
  const start = process.hrtime.bigint();
  for (let pass = 0; pass < passes; pass++) {
    const running = work.run();
    if (running !== undefined) await running;
  }
  const wall = process.hrtime.bigint() - start;
  const { user, system } = process.cpuUsage(cpu);
  return work.measured === undefined ? `${wall} ${(user + system) * 1000}` : `${work.measured()} ${work.measured()}`;
}
