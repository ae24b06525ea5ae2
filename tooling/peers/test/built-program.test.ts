import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import { builtProgram, type ProgramSource, UnavailableError } from '../src/built-program.js';

function program(build: ProgramSource['build'], toolchain: ProgramSource['toolchain'] = [process.execPath, '--version']): ProgramSource {
  return { name: 'program-of-a-test', toolchain, files: [], build };
}

test('a program whose toolchain is not installed is unavailable', async () => {
  const building = builtProgram(program(() => Promise.resolve(), ['bloom-no-such-toolchain']));
  await expect(building).rejects.toThrow(new UnavailableError('bloom-no-such-toolchain is not installed'));
});

test('a program is unavailable when what it needs cannot be fetched, with the last line of the output as the reason', async () => {
  const building = builtProgram(program((_, { fetch }) => fetch(process.execPath, ['-e', 'console.error("resolving\\nno registry"); process.exit(1)'])));
  await expect(building).rejects.toThrow(new UnavailableError('what it needs cannot be fetched: no registry'));
});

test('a program that does not compile is an error and not unavailable', async () => {
  const error: unknown = await builtProgram(program((_, { compile }) => compile(process.execPath, ['-e', 'process.exit(1)']))).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toBeInstanceOf(UnavailableError);
});

test('a program is built once, even when it is asked for twice at the same time', async () => {
  let builds = 0;
  const source = program(async (folder) => {
    builds++;
    await new Promise((resolve) => setTimeout(resolve, 50));
    writeFileSync(join(folder, 'peer'), '');
  });
  const [first, second] = await Promise.all([builtProgram(source), builtProgram(source)]);
  expect([first, builds, existsSync(join(first, 'peer'))]).toEqual([second, 1, true]);
  rmSync(first, { recursive: true });
});
