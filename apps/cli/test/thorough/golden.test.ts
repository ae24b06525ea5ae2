import { goldenTables } from '@bloom/fixtures';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bloom, bloomPrints } from '../bloom.js';
import { Scratch } from '../bloom-process.js';

const scratch = new Scratch();

describe.each(goldenTables())(
  '$name, written by LevelDB',
  ({ name, options, byteExact, inputPath, bytes }) => {
    test('is rebuilt from its input', async () => {
      const filter = options.bitsPerKey === null ? ['--no-filter'] : ['--bits-per-key', String(options.bitsPerKey)];
      const blocks = [
        '--block-size',
        String(options.blockSize),
        '--block-restart-interval',
        String(options.blockRestartInterval),
      ];
      const args = [
        'build',
        inputPath,
        '-f',
        'kv',
        '-q',
        '-o',
        name,
        '--compression',
        options.compression,
        ...filter,
        ...blocks,
      ];
      expect(await bloomPrints(args, scratch.path)).toBe('');
      if (byteExact) {
        expect(scratch.read(name).equals(bytes())).toBe(true);
      } else {
        const { stdout } = await bloom(['scan', name, '-f', 'kv'], scratch.path);
        expect(stdout.equals(readFileSync(inputPath))).toBe(true);
      }
    });
  },
);
