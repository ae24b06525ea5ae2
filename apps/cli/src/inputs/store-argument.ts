/** The store of a published database and its parts: a folder or a bucket. */
import { BulkError, type Store } from '@bloom/bulk';
import { FolderStore } from '@bloom/bulk/node';
import { type S3Fetch, s3StoreOf } from '@bloom/bulk/s3';
import type { Signal } from '@bloom/bytes';
import type { Folder } from '@bloom/leveldb';
import { CorruptionError } from '@bloom/sstable';
import { Failure, isSystemError, mustBeWrittenHere, placedProblem, systemProblem } from '../failure.js';
import { withCause } from '../http-problem.js';
import type { Trace } from './trace.js';

/** Whether an argument names a bucket. */
export function isBucket(text: string): boolean {
  return /^s3:/i.test(text);
}

/** The store that an argument names. @throws Failure for an invalid address or a missing variable. */
export function storeOf(text: string, options: Parameters<typeof s3StoreOf>[2] = {}): Store {
  if (text === '') throw new Failure('the name of the store is empty');
  if (/^https?:/i.test(text)) throw new Failure('a store is a folder, or s3://BUCKET/PREFIX: AWS_ENDPOINT_URL sets the address of a server other than Amazon\'s');
  if (!isBucket(text)) {
    mustBeWrittenHere(text);
    return new FolderStore(text);
  }
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = process.env;
  for (const [name, value] of Object.entries({ AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL })) {
    if (value === undefined || value === '') continue;
    if (!URL.canParse(value) || !/^https?:/i.test(value) || new URL(value).username !== '' || new URL(value).password !== '') {
      throw new Failure(`${name} must be http:// or https:// with a host, and without a password`);
    }
  }
  try {
    return s3StoreOf(text, process.env, options);
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) throw new Failure(error.message, { cause: error });
    throw error;
  }
}

/** The store of an address of a bucket. */
export function bucketStore(address: string, tracing: Trace | undefined): Store {
  const send = fetch as unknown as S3Fetch & Parameters<Trace['fetch']>[0];
  return storeOf(address, tracing && { fetch: tracing.fetch(send) as unknown as S3Fetch });
}

/**
 * The folder of a database in a bucket. It may be a copy of one that was not published, which has logs.
 *
 * @param isListed whether it has `list`. Not everyone who may read a bucket may list it, and a database can be opened without.
 */
export function bucketFolder(address: string, tracing: Trace | undefined, isListed: boolean): Folder {
  const store = bucketStore(address, tracing);
  const folder = store.folder();
  const files: Folder = { name: address, isRemote: true, open: (name, signal) => folder.open(name, signal) };
  return isListed ? { ...files, list: (signal) => namesIn(store, signal) } : files;
}

async function namesIn(store: Store, signal: Signal | undefined): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of store.list(signal)) names.push(name);
  } catch (error) {
    throw storeFailure(error);
  }
  return names;
}

/** Turns an error of parts, a store or a published database into a failure. Returns other errors unchanged. */
export function storeFailure(error: unknown): unknown {
  if (error instanceof BulkError) {
    return new Failure(`${storeProblem(error)} (${error.code})`, { cause: error });
  }
  if (error instanceof CorruptionError) return new Failure(`${error.file === undefined ? '' : `${error.file}: `}${placedProblem(error)} (${error.code})`, { cause: error });
  if (isSystemError(error)) return new Failure(`${error.path === undefined ? '' : `${error.path}: `}${systemProblem(error)}`, { cause: error });
  return error;
}

function storeProblem(error: BulkError): string {
  const { message, cause } = error;
  if (error.code !== 'BLOOM_STORE_FAILED') return message;
  return isSystemError(cause) && message.endsWith(cause.message) ? `${message.slice(0, -cause.message.length)}${systemProblem(cause)}` : withCause(message, error);
}
