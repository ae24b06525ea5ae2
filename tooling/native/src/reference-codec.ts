import { spawnSync } from 'node:child_process';
import { answersIn, fields } from './fields.js';
import { compileProgram, type ProgramSource } from './program.js';

/** The codecs with reference implementations. */
export type CodecName = 'snappy' | 'zstd';

/** Settings of zstd; add them to the level. */
export const ZSTD_CHECKSUM = 100;
export const ZSTD_WITHOUT_SIZE = 200;
export const ZSTD_SMALL_WINDOW = 400;

const source: ProgramSource = {
  name: 'reference-codec',
  libraries: [['-ldl'], []],
  probe: `#include <dlfcn.h>
int main() { return dlopen("", RTLD_NOW) != nullptr; }
`,
  check: [],
};

/** Google's Snappy or the reference implementation of zstd. Each call starts a process. */
export class ReferenceCodec {
  readonly name: CodecName;
  readonly #program: string;

  constructor(name: CodecName, program: string) {
    this.name = name;
    this.#program = program;
  }

  /** Compresses each of `contents`. Snappy has no levels. */
  encode(contents: readonly Uint8Array[], level = 0): Uint8Array[] {
    const output = this.#run(['encode', this.name, String(level)], contents);
    const view = new DataView(output.buffer, output.byteOffset);
    let position = 0;
    return contents.map(() => {
      const start = position + 4;
      position = start + view.getUint32(position, true);
      return output.slice(start, position);
    });
  }

  /** Decompresses each stream: `undefined` if it is invalid or its contents are longer than `maxBytes`. */
  decode(streams: readonly Uint8Array[], maxBytes: number): (Uint8Array | undefined)[] {
    const output = this.#run(['decode', this.name, String(maxBytes)], streams);
    return answersIn(output, streams.length);
  }

  /** Nanoseconds per item in the fastest of `rounds`. */
  encodeNanoseconds(contents: readonly Uint8Array[], rounds: number, level = 0): number {
    return Number(new TextDecoder().decode(this.#run(['time', 'encode', this.name, String(level), String(rounds)], contents)));
  }

  /** Nanoseconds per item in the fastest of `rounds`. */
  decodeNanoseconds(streams: readonly Uint8Array[], rounds: number, maxBytes: number): number {
    return Number(new TextDecoder().decode(this.#run(['time', 'decode', this.name, String(maxBytes), String(rounds)], streams)));
  }

  #run(args: readonly string[], list: readonly Uint8Array[]): Uint8Array {
    const { error, signal, status, stderr, stdout } = spawnSync(this.#program, args, { input: fields(list), maxBuffer: 2 ** 31 });
    if (error !== undefined) throw error;
    if (status === 0) return new Uint8Array(stdout);
    throw new Error(`${args.join(' ')}: ${new TextDecoder().decode(stderr).trim() || String(signal)}`);
  }
}

/** The reference, compiled on first use; `undefined` if the library or a C++ compiler is missing. */
export function referenceCodec(name: CodecName): ReferenceCodec | undefined {
  const program = compileProgram(source);
  if ('unavailable' in program) return undefined;
  return spawnSync(program.path, ['version', name]).status === 0 ? new ReferenceCodec(name, program.path) : undefined;
}
