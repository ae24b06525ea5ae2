import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { ProgramSource } from './built-program.js';

export const python = process.env.BLOOM_PYTHON ?? 'python3';

/** A Go program of one file. `modules` is the name of its `.mod` and `.sum` files, which pin the versions. */
export function goProgram(name: string, folder: string, modules = 'go'): ProgramSource {
  const env = { CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOWORK: 'off', GOFLAGS: '-mod=readonly -buildvcs=false' };
  return {
    name,
    toolchain: ['go', 'version'],
    files: [`${folder}/main.go`, `${folder}/go.mod`, `${folder}/${modules}.mod`, `${folder}/${modules}.sum`],
    async build(built, { programs, fetch, compile }) {
      const options = { cwd: join(programs, folder), env };
      await fetch('go', ['mod', 'download', `-modfile=${modules}.mod`], options);
      await compile('go', ['build', `-modfile=${modules}.mod`, '-o', join(built, 'peer'), '.'], options);
    },
  };
}

/** A crate, whose Cargo.toml pins the versions of all that it needs. */
export function cargoProgram(name: string): ProgramSource {
  return {
    name,
    toolchain: ['cargo', '--version'],
    files: [`${name}/Cargo.toml`, `${name}/src/main.rs`],
    async build(built, { programs, fetch, compile }) {
      const cwd = join(programs, name);
      const target = join(built, 'target');
      await fetch('cargo', ['fetch'], { cwd });
      await compile('cargo', ['build', '--release', '--locked', '--offline', '--target-dir', target], { cwd });
      renameSync(join(target, 'release', `${name}-peer`), join(built, 'peer'));
    },
  };
}

/** A program in Python, with the wheels that `requirements.txt` pins. */
export function pythonProgram(name: string): ProgramSource {
  return {
    name,
    toolchain: [python, '-m', 'pip', '--version'],
    files: [`${name}/peer.py`, `${name}/requirements.txt`],
    async build(built, { programs, fetch }) {
      const requirements = join(programs, name, 'requirements.txt');
      await fetch(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '--require-hashes', '--only-binary', ':all:', '--target', built, '-r', requirements]);
      cpSync(join(programs, name, 'peer.py'), join(built, 'peer.py'));
    },
  };
}

/** `Peer.class`, with the libraries of `pom.xml` in `jars`, whose checksums are in `sha256sums.txt`. */
export const javaProgram: ProgramSource = {
  name: 'java-leveldb',
  toolchain: ['javac', '-version'],
  files: ['java-leveldb/Peer.java', 'java-leveldb/pom.xml', 'java-leveldb/sha256sums.txt'],
  async build(built, { programs, fetch, compile }) {
    const cwd = join(programs, 'java-leveldb');
    const jars = join(built, 'jars');
    mkdirSync(jars);
    await fetch('mvn', ['--quiet', '--batch-mode', 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies', `-DoutputDirectory=${jars}`], { cwd });
    const sums = readdirSync(jars).map((jar) => `${createHash('sha256').update(readFileSync(join(jars, jar))).digest('hex')}  ${jar}\n`);
    if (sums.sort().join('') !== readFileSync(join(cwd, 'sha256sums.txt'), 'utf8')) throw new Error(`the libraries have other checksums:\n${sums.join('')}`);
    await compile('javac', ['-d', built, '-cp', join(jars, 'leveldb-api-0.12.jar'), join(cwd, 'Peer.java')]);
  },
};
