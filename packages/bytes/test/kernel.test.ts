import { instantiateKernel, type Kernel } from '@bloom/bytes/internal';
import { expect, test, vi } from 'vitest';

/** A module that exports a memory of one page, and nothing else. */
const MODULE = '0061736d01000000' + '0503010001' + '070a01066d656d6f72790200';

test('a module given in hexadecimal is instantiated, with a memory of its own each time', () => {
  const [first, second] = [instantiateKernel<Kernel>(MODULE), instantiateKernel<Kernel>(MODULE)];
  expect(first!.memory.buffer.byteLength).toBe(65_536);
  expect(second!.memory.buffer).not.toBe(first!.memory.buffer);
});

test('there is no kernel of a module that the host cannot compile', () => {
  expect(instantiateKernel('0061736d02000000')).toBeUndefined();
});

test('there is no kernel where WebAssembly is missing or is not allowed to compile', () => {
  const refuse = function (): never {
    throw new EvalError('no unsafe-eval');
  };
  try {
    for (const host of [undefined, { Module: refuse, Instance: refuse }]) {
      vi.stubGlobal('WebAssembly', host);
      expect(instantiateKernel(MODULE)).toBeUndefined();
    }
  } finally {
    vi.unstubAllGlobals();
  }
});
