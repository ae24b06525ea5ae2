import { seeded } from '@bloom/fixtures';

/**
 * Random operations for small buffers, so that there are several memtables, levels and compactions; see `Script`. The total
 * is below 10 MiB, so that no automatic compaction of level 1 races with a requested one.
 */
export function randomScript(seed: number): string[] {
  const random = seeded(seed);
  const oneIn = (n: number): boolean => random.below(n) === 0;
  const hex = (bytes: Uint8Array): string => `hex:${Buffer.from(bytes).toString('hex')}`;
  const keyCount = 20 + random.below(oneIn(2) ? 200 : 3000);
  const maxValue = oneIn(4) ? 3000 : 600;
  const keys = Array.from({ length: keyCount }, () => {
    if (oneIn(6)) return hex(random.bytes(random.below(12)));
    return oneIn(20) ? hex(random.bytes(300)) : `key${random.below(100_000)}`;
  });
  const key = (): string => keys[random.below(keyCount)]!;
  const held: string[] = [];
  const lines = ['open'];
  const write = (): string => {
    if (oneIn(5)) return `del ${key()}`;
    if (oneIn(300)) return `put ${key()} rnd:${random.below(60_000)}:${random.below(1e6)}`;
    return `put ${key()} ${oneIn(3) ? `rep:${random.below(maxValue)}:76` : `rnd:${random.below(maxValue)}:${random.below(1e6)}`}`;
  };
  const count = 500 + random.below(oneIn(3) ? 6000 : 2000);
  for (let i = 0; i < count; i++) {
    if (oneIn(12)) lines.push('batch', ...Array.from({ length: random.below(30) }, write), 'end');
    else lines.push(write());
    if (oneIn(3)) lines.push(`get ${key()}`);
    if (oneIn(300)) {
      held.push(`s${i}`);
      lines.push(`snapshot s${i}`);
    }
    if (held.length > 0 && oneIn(500)) lines.push(`release ${held.splice(random.below(held.length), 1)[0]!}`);
    if (oneIn(500)) lines.push('flush');
    if (oneIn(800)) lines.push('flush', 'compact');
    if (oneIn(900)) lines.push('flush', `compact ${key()} ${key()}`);
    if (oneIn(700)) {
      held.length = 0;
      lines.push('close', oneIn(2) ? 'open reuse' : 'open');
    }
  }
  return lines;
}
