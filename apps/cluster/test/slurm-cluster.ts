// A Slurm of two nodes on this machine, with a key, sockets and ports of its own.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';

/** How long a node is not heard of before it is down, in seconds. */
const NODE_TIMEOUT_S = 10;

export class SlurmCluster {
  readonly #processes = new Map<string, ChildProcess>();
  readonly #env: NodeJS.ProcessEnv;

  private constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.#env = { ...env, SLURM_CONF: join(folder, 'slurm.conf') };
  }

  /** @param env of the tasks. */
  static async start(folder: string, env: NodeJS.ProcessEnv): Promise<SlurmCluster> {
    const cluster = new SlurmCluster(folder, env);
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o755);
    for (const name of ['state', 'node1', 'node2', 'log', 'munge']) mkdirSync(join(folder, name), { mode: 0o755 });
    writeFileSync(join(folder, 'munge.key'), randomBytes(128), { mode: 0o400 });
    const ports = await Promise.all([freePort(), freePort(), freePort()]);
    const socket = join(folder, 'munge/socket');
    writeFileSync(
      join(folder, 'slurm.conf'),
      `ClusterName=bloom
SlurmctldHost=${hostname()}(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=${socket},cred_expire=5
CredType=cred/munge
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/%n
SlurmctldPidFile=${folder}/slurmctld.pid
SlurmdPidFile=${folder}/%n.pid
SlurmctldLogFile=${folder}/log/slurmctld
SlurmdLogFile=${folder}/log/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0,defer
SlurmdTimeout=${NODE_TIMEOUT_S}
ReturnToService=2
MpiDefault=none
JobRequeue=1
KillWait=2
NodeName=node1 NodeHostname=${hostname()} NodeAddr=127.0.0.1 Port=${ports[1]} CPUs=1 RealMemory=500
NodeName=node2 NodeHostname=${hostname()} NodeAddr=127.0.0.1 Port=${ports[2]} CPUs=1 RealMemory=500
PartitionName=main Nodes=node1,node2 Default=YES MaxTime=INFINITE State=UP
`,
    );
    const munge = join(folder, 'munge');
    cluster.#run('munged', 'munged', ['--foreground', '--force', `--key-file=${folder}/munge.key`, `--socket=${socket}`, `--pid-file=${munge}/pid`, `--seed-file=${munge}/seed`, `--log-file=${munge}/log`]);
    await vi.waitFor(() => spawnSync('munge', ['-n', '--socket', socket]).status === 0 || Promise.reject(new Error('munged does not answer')), { timeout: 20_000, interval: 100 });
    cluster.#run('slurmctld', 'slurmctld', ['-D', '-c']);
    for (const node of ['node1', 'node2']) cluster.startNode(node);
    await vi.waitFor(() => cluster.nodes().every((state) => state.startsWith('idle')) || Promise.reject(new Error(`nodes are ${cluster.nodes().join()}`)), { timeout: 60_000, interval: 200 });
    return cluster;
  }

  startNode(name: string): void {
    this.#run(name, 'slurmd', ['-D', '-N', name]);
  }

  /** Ends a node with all that runs on it, as a loss of power does. */
  loseNode(name: string): void {
    const daemon = this.#processes.get(name)!.pid!;
    const steps = processes().filter(({ command }) => command.startsWith('slurmstepd:') && this.#isOfNode(command, name));
    const tasks = steps.flatMap(({ pid }) => descendantsOf(pid));
    // The daemons first: they would still report that the task has failed.
    for (const pid of [daemon, ...steps.map(({ pid: step }) => step), ...tasks]) kill(pid);
  }

  /** The state of each node. */
  nodes(): string[] {
    return this.ask('sinfo', ['-h', '-N', '-o', '%T']).trim().split('\n');
  }

  /** What a program of Slurm prints. */
  ask(program: string, args: readonly string[]): string {
    const { stdout, stderr, status } = spawnSync(program, args, { env: this.#env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  async stop(): Promise<void> {
    for (const name of ['node1', 'node2', 'slurmctld', 'munged']) {
      const child = this.#processes.get(name);
      if (child?.exitCode !== null || child.signalCode !== null) continue;
      if (name.startsWith('node')) this.loseNode(name);
      else child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }

  #run(name: string, program: string, args: readonly string[]): void {
    this.#processes.set(name, spawn(program, args, { env: this.#env, stdio: 'ignore' }));
  }

  /** A step's process names its job, and the job its node. */
  #isOfNode(command: string, node: string): boolean {
    const job = /\[(\d+)/.exec(command)?.[1];
    if (job === undefined) return false;
    return spawnSync('scontrol', ['show', 'job', job, '-o'], { env: this.#env, encoding: 'utf8' })
      .stdout.split('\n')
      .some((line) => line.includes(`JobId=${job} `) && line.includes(`BatchHost=${node} `));
  }
}

interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

function processes(): Running[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
        return [{ pid: Number(name), parent, command: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') }];
      } catch {
        // It has ended.
        return [];
      }
    });
}

function descendantsOf(pid: number): number[] {
  const all = processes();
  const below = (parent: number): number[] => all.filter((one) => one.parent === parent).flatMap((one) => [one.pid, ...below(one.pid)]);
  return below(pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
