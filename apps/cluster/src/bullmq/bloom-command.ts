import { spawn } from 'node:child_process';

/** The program: `BLOOM`, where it is not in the path. A file of Node's is run by Node. */
const program = process.env.BLOOM ?? 'bloom';

/** What a command did. */
export interface CommandOutcome {
  readonly code: number;
  readonly stdout: string;
}

/** Runs `bloom`. @throws Error with what it said when it ends with 2, or by a signal. */
export async function bloom(args: readonly string[], input = ''): Promise<CommandOutcome> {
  const isScript = /\.[cm]?js$/.test(program);
  const child = spawn(isScript ? process.execPath : program, isScript ? [program, ...args] : args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => stdout.push(piece));
  child.stderr.on('data', (piece: Buffer) => stderr.push(piece));
  child.stdin.on('error', () => {
    // It need not read its input.
  });
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0 && code !== 1) throw new Error(`bloom ${args[0]} ended with ${code ?? 'a signal'}: ${Buffer.concat(stderr).toString().trim()}`);
  return { code, stdout: Buffer.concat(stdout).toString() };
}
