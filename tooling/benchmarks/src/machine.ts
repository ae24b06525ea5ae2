import { readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';

/** The machine and the versions of a run. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
  readonly v8: string;
  /** By name; LevelDB's is absent where it is not installed. */
  readonly versions: Readonly<Record<string, string>>;
  readonly date: string;
  /** The load average of the last minute. Above the number of cores, times are those of a busy machine. */
  readonly load: number;
}

const PACKAGES = ['@bloom/hash', '@bloom/policy', '@bloom/sstable', 'classic-level', 'bloom-filters', 'bloomfilter'];

export function describeMachine(packageFolder: string, levelDb: string | undefined): Machine {
  const versions = Object.fromEntries(
    PACKAGES.map((name) => {
      const manifest: unknown = JSON.parse(readFileSync(join(packageFolder, 'node_modules', name, 'package.json'), 'utf8'));
      return [name, (manifest as { readonly version: string }).version];
    }),
  );
  return {
    processor: cpus()[0]?.model ?? 'unknown processor',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()} ${arch()}`,
    node: process.versions.node,
    v8: process.versions.v8,
    versions: { ...(levelDb !== undefined && { LevelDB: levelDb }), ...versions },
    date: new Date().toISOString().slice(0, 10),
    load: Number(loadavg()[0]!.toFixed(1)),
  };
}

/** The machine in one line. */
export function machineLine(machine: Machine): string {
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`);
  return [
    `${machine.processor}, ${machine.cores} cores, ${machine.memoryGiB} GiB`,
    machine.system,
    `Node ${machine.node} (V8 ${machine.v8})`,
    ...versions,
    `${machine.date}, load average ${machine.load}`,
  ].join('; ');
}
