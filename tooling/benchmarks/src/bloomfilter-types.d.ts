// bloomfilter has no types of its own.
declare module 'bloomfilter' {
  export class BloomFilter {
    constructor(bits: number, probes: number);
    add(key: string): void;
    test(key: string): boolean;
  }
}
