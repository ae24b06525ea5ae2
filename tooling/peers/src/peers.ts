import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { builtProgram, commandIn } from './built-program.js';
import { Peer, type PeerTraits } from './peer.js';
import type { ProgramCommand } from './program-command.js';
import { cargoProgram, goProgram, javaProgram, python, pythonProgram } from './program-sources.js';

const leveldb = { format: 'LevelDB', keeps: 'what is applied', flushes: true, compacts: true, tables: '.ldb', filter: 'leveldb.BuiltinBloomFilter2', emptyKeys: true } as const satisfies Partial<PeerTraits>;
const goleveldb = { ...leveldb, filter: 'leveldb.BuiltinBloomFilter', refusal: /resource temporarily unavailable/ } as const;
const pebble = { ...leveldb, format: 'Pebble', tables: '.sst', refusal: /resource temporarily unavailable/ } as const;

/** LevelDB's own message, which its bindings pass on. */
const LEVELDB_REFUSAL = /lock .*Resource temporarily unavailable/;

function java(factory: string, ...jars: readonly string[]): () => Promise<ProgramCommand> {
  return async () => {
    const folder = await builtProgram(javaProgram);
    const classes = [folder, ...jars.map((jar) => join(folder, 'jars', jar))].join(process.platform === 'win32' ? ';' : ':');
    return { program: 'java', args: ['-cp', classes, 'Peer', factory] };
  };
}

function inPython(name: string): () => Promise<ProgramCommand> {
  return async () => {
    const folder = await builtProgram(pythonProgram(name));
    return { program: python, args: [join(folder, 'peer.py')], env: { PYTHONPATH: folder } };
  };
}

function inGo(name: string, folder: string, modules: string, ...args: readonly string[]): () => Promise<ProgramCommand> {
  return async () => commandIn(await builtProgram(goProgram(name, folder, modules)), 'peer', ...args);
}

/** All peers. Each is built when it is first started. */
export function peers(): Peer[] {
  return [
    new Peer({ ...goleveldb, name: 'goleveldb 1.0.0' }, inGo('goleveldb-1.0.0', 'goleveldb', 'v1.0.0')),
    new Peer({ ...goleveldb, name: 'goleveldb 2022-07-21' }, inGo('goleveldb', 'goleveldb', 'go')),
    new Peer({ ...leveldb, name: 'rusty-leveldb 4.0.2', refusal: /database lock is held by another instance/, keeps: 'what is flushed', emptyKeys: false }, async () =>
      commandIn(await builtProgram(cargoProgram('rusty-leveldb')), 'peer'),
    ),
    new Peer({ ...leveldb, name: 'plyvel 1.5.1', refusal: LEVELDB_REFUSAL, flushes: false }, inPython('plyvel')),
    new Peer({ ...leveldb, name: 'classic-level 3', refusal: LEVELDB_REFUSAL, flushes: false }, () =>
      Promise.resolve({ program: process.execPath, args: [fileURLToPath(new URL('../programs/classic-level/peer.mjs', import.meta.url))] }),
    ),
    new Peer(
      { ...leveldb, name: 'iq80 leveldb 0.12', refusal: /Unable to acquire lock/, compacts: false, tables: '.sst', filter: undefined },
      java('org.iq80.leveldb.impl.Iq80DBFactory', 'leveldb-0.12.jar', 'leveldb-api-0.12.jar', 'guava-21.0.jar', 'snappy-0.4.jar'),
    ),
    new Peer({ ...leveldb, name: 'leveldbjni 1.8', refusal: LEVELDB_REFUSAL, flushes: false, tables: '.sst', filter: undefined }, java('org.fusesource.leveldbjni.JniDBFactory', 'leveldbjni-all-1.8.jar')),
    new Peer({ ...pebble, name: 'Pebble 1.1.5, the earliest format' }, inGo('pebble', 'pebble', 'go', 'earliest')),
    new Peer({ ...pebble, name: 'Pebble 1.1.5, the newest format' }, inGo('pebble', 'pebble', 'go', 'newest')),
    new Peer({ ...leveldb, name: 'RocksDB (rocksdict 0.3.29)', format: 'RocksDB', tables: '.sst', refusal: /lock .*Resource temporarily unavailable|lock hold by/ }, inPython('rocksdict')),
  ];
}
