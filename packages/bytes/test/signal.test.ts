import { expect, test } from 'vitest';
import { throwIfAborted } from '../src/internal.js';

test('throwIfAborted throws the reason of an aborted signal, whatever it is, and nothing for others', () => {
  const controller = new AbortController();
  expect(() => throwIfAborted(undefined)).not.toThrow();
  expect(() => throwIfAborted(controller.signal)).not.toThrow();
  controller.abort();
  expect(() => throwIfAborted(controller.signal)).toThrow(expect.objectContaining({ name: 'AbortError' }));
  const reason = new RangeError('too slow');
  expect(() => throwIfAborted(AbortSignal.abort(reason))).toThrow(reason);
});

test('throwIfAborted takes a signal that has no such method', () => {
  const signal = Object.assign(new EventTarget(), { aborted: false, reason: undefined }) as unknown as AbortSignal;
  expect(() => throwIfAborted(signal)).not.toThrow();
  Object.assign(signal, { aborted: true, reason: new Error('ended') });
  expect(() => throwIfAborted(signal)).toThrow('ended');
});
