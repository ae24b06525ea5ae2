import { useEffect, useRef, useState } from 'preact/hooks';
import { sampleUrl } from '../table/opened-table.js';
import { CallError, type FailureFacts, failureFacts } from '../worker/failure.js';
import { DatabaseClient } from './database-client.js';
import type { FolderOrigin, OpenedFolder } from './database-facts.js';

/** The database that is open, kept while other views are looked at. */
let current: DatabaseClient | undefined;

export function openedDatabase(): DatabaseClient | undefined {
  return current;
}

export function closeDatabase(): void {
  current?.close();
  current = undefined;
}

const SAMPLE_NAME = 'weather database';

/** Which folder the URL asks for, if it can be had from there. */
function originOf(params: URLSearchParams): FolderOrigin | undefined {
  const url = params.get('url');
  if (params.has('sample')) return { kind: 'url', name: SAMPLE_NAME, url: sampleUrl('database') };
  if (url === null) return undefined;
  try {
    const { href } = new URL(url, document.baseURI);
    return { kind: 'url', name: href, url: href };
  } catch {
    return undefined;
  }
}

/** What the URL must say for a database to be shown. */
export function paramsOf({ origin }: DatabaseClient): Record<string, string> {
  if (origin.kind === 'files') return { folder: origin.name };
  return origin.name === SAMPLE_NAME ? { sample: '1' } : { url: origin.url };
}

export interface DatabaseOpening {
  readonly client: DatabaseClient | undefined;
  readonly opening: string | undefined;
  readonly failure: FailureFacts | undefined;
  /** The files of a folder that could not be opened. */
  readonly refused: { readonly origin: FolderOrigin; readonly files: Extract<OpenedFolder, { ok: false }>['files'] } | undefined;
  readonly open: (origin: FolderOrigin, insistOnBytewise?: boolean) => Promise<boolean>;
  readonly cancel: () => void;
}

/** Opens what the URL asks for, and what is dropped. */
export function useDatabase(params: URLSearchParams): DatabaseOpening {
  const [client, setClient] = useState<DatabaseClient>();
  const [opening, setOpening] = useState<string>();
  const [failure, setFailure] = useState<FailureFacts>();
  const [refused, setRefused] = useState<DatabaseOpening['refused']>();
  const controller = useRef<AbortController | undefined>(undefined);

  const open = async (origin: FolderOrigin, insistOnBytewise = false): Promise<boolean> => {
    controller.current?.abort();
    const mine = (controller.current = new AbortController());
    setFailure(undefined);
    setRefused(undefined);
    setOpening(origin.name);
    try {
      const opened = await DatabaseClient.open(origin, insistOnBytewise, { signal: mine.signal });
      if (controller.current !== mine) return false;
      if (opened instanceof DatabaseClient) {
        closeDatabase();
        current = opened;
        setClient(opened);
        return true;
      }
      setFailure(opened.failure);
      setRefused({ origin, files: opened.files });
      setClient(undefined);
    } catch (error) {
      if (controller.current === mine && !(error instanceof CallError && error.isCancelled)) setFailure(failureFacts(error));
    } finally {
      if (controller.current === mine) setOpening(undefined);
    }
    return false;
  };

  const wanted = originOf(params);
  const wantedUrl = wanted?.kind === 'url' ? wanted.url : undefined;
  const wantedFolder = params.get('folder');
  useEffect(() => {
    if (wanted !== undefined) {
      if (current?.origin.kind === 'url' && current.origin.url === wantedUrl) setClient(current);
      else void open(wanted);
    } else if (wantedFolder !== null && wantedFolder === current?.origin.name) setClient(current);
    else setClient(undefined);
  }, [wantedUrl, wantedFolder]);
  useEffect(() => () => controller.current?.abort(), []);

  const cancel = (): void => {
    controller.current?.abort();
    setOpening(undefined);
  };
  return { client, opening, failure, refused, open, cancel };
}
