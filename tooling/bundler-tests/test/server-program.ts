import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import type { ServerFindings } from '../src/server-findings.js';

/** Runs a bundled `server.ts`. @returns what it prints. */
export async function printedFindings(program: string): Promise<ServerFindings> {
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env: environmentOfProgram() });
  return JSON.parse(stdout) as ServerFindings;
}

/** What a program is started with: pnpm sets NODE_PATH, by which `require` finds this project's packages from anywhere. */
export function environmentOfProgram(): NodeJS.ProcessEnv {
  const { NODE_PATH: _, ...env } = process.env;
  return env;
}

/** Whether this machine has fs-native-extensions, an optional dependency: with or without koffi, folders can then be locked. */
export function hasLocks(): boolean {
  try {
    createRequire(import.meta.url)('fs-native-extensions');
    return true;
  } catch {
    return false;
  }
}
