/** Subscriptions and packets of a broker: an encoding object, and streams made of iterators. */
import { Readable } from 'node:stream';
import { BloomLevel as ClassicLevel } from '@bloom/level';

interface Packet {
  readonly topic: string;
  readonly payload: Buffer;
}

const PACKETS = {
  name: 'packet',
  format: 'buffer' as const,
  encode: ({ topic, payload }: Packet): Buffer => Buffer.concat([Buffer.from(`${topic}\n`), payload]),
  decode: (bytes: Buffer): Packet => ({ topic: bytes.toString('utf8', 0, bytes.indexOf(10)), payload: bytes.subarray(bytes.indexOf(10) + 1) }),
};

export class Persistence {
  private readonly db: ClassicLevel<string, Packet>;

  constructor(path: string) {
    this.db = new ClassicLevel<string, Packet>(path, { valueEncoding: PACKETS });
  }

  storeRetained(packet: Packet): Promise<void> {
    return packet.payload.length === 0 ? this.db.del(`retained:${packet.topic}`) : this.db.put(`retained:${packet.topic}`, packet);
  }

  retained(pattern: string): Readable {
    return Readable.from(this.db.values({ gt: `retained:${pattern}`, lt: `retained:${pattern}\xff` }));
  }

  outgoing(client: string): Promise<string[]> {
    return this.db.keys({ gt: `outgoing:${client}:`, lt: `outgoing:${client};` }).all();
  }

  async setup(): Promise<void> {
    await this.db.open({ passive: true });
  }
}
