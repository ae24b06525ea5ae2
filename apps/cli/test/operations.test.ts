import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Failure } from '../src/failure.js';
import { DecodedInputs } from '../src/inputs/decoded-inputs.js';
import { findInputs } from '../src/inputs/input.js';
import { Operations } from '../src/inputs/operations.js';

test('versions that do not fit into memory name the folder that they cannot be written to', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bloom-operations-'));
  try {
    const path = join(folder, 'versions.tsv');
    writeFileSync(path, 'a\t1\tvalue\tone\n');
    const inputs = new DecodedInputs(findInputs([path]), { format: 'tsv', hex: false, versions: true }, () => undefined);
    const missing = join(folder, 'missing');
    const operations = new Operations(inputs, { versions: true, memoryBytes: 1, folder: missing });
    await expect(operations.prepare(new AbortController().signal)).rejects.toThrow(new Failure(`${missing}: no such file or folder`));
    await operations.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
