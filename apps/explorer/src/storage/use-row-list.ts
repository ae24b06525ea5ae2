import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { CallError, type FailureFacts, failureFacts } from '../worker/failure.js';
import type { CallOptions } from '../worker/worker-calls.js';
import type { StorageClient } from './storage-client.js';
import type { ListFacts } from './storage-facts.js';
import type { StorageSearch } from './storage-place.js';

/** The number of rows that are read at a time. */
const PORTION = 200;
/** The distance from the end of the known rows, in rows, at which further rows are read. */
const MARGIN = 60;

const EMPTY: ListFacts = { rowCount: 0, examined: 0, state: 'more' };

export interface RowListState {
  /** The number of the list in the worker; undefined until it exists. */
  readonly list: number | undefined;
  readonly facts: ListFacts;
  /** The number of records read so far, while further rows are read. */
  readonly progress: number | undefined;
  readonly failure: FailureFacts | undefined;
  readonly isStopped: boolean;
}

const NO_LIST: RowListState = { list: undefined, facts: EMPTY, progress: undefined, failure: undefined, isStopped: false };

export interface RowListControl extends RowListState {
  /** Reports the last visible row, so that further rows are read before they are needed. */
  readonly see: (end: number) => void;
  readonly stop: () => void;
  readonly goOn: () => void;
}

/** The rows of a search, which are read as the user scrolls. A new search ends the previous one. */
export function useRowList(client: StorageClient, search: StorageSearch): RowListControl {
  const [state, setState] = useState(NO_LIST);
  const now = useRef(state);
  const controller = useRef<AbortController | undefined>(undefined);
  const set = (part: Partial<RowListState>): void => setState((now.current = { ...now.current, ...part }));

  const read = useCallback((list: number): void => {
    if (controller.current !== undefined) return;
    const mine = (controller.current = new AbortController());
    const isMine = (): boolean => now.current.list === list && controller.current === mine;
    set({ progress: now.current.facts.examined, isStopped: false, failure: undefined });
    const options: CallOptions = { signal: mine.signal, onProgress: (examined, rowCount) => isMine() && set({ progress: examined, facts: { ...now.current.facts, rowCount, examined } }) };
    client.calling(options).more(list, PORTION).then(
      (facts) => {
        if (!isMine()) return;
        controller.current = undefined;
        set({ facts, progress: undefined, isStopped: mine.signal.aborted });
      },
      (error: unknown) => {
        if (!isMine()) return;
        controller.current = undefined;
        set({ progress: undefined, failure: error instanceof CallError && error.isCancelled ? undefined : failureFacts(error), isStopped: true });
      },
    );
  }, [client]);

  const key = JSON.stringify(search);
  useEffect(() => {
    let current = true;
    set(NO_LIST);
    const timer = setTimeout(() => {
      client.worker.list(search).then(
        (list) => {
          if (!current) return;
          set({ list });
          read(list);
        },
        (error: unknown) => current && set({ failure: failureFacts(error) }),
      );
    }, search.find === '' ? 0 : 250);
    return () => {
      current = false;
      clearTimeout(timer);
      controller.current?.abort();
      controller.current = undefined;
    };
  }, [client, key]);

  return {
    ...state,
    see(end) {
      const { list, facts, failure, isStopped } = now.current;
      if (list !== undefined && facts.state === 'more' && failure === undefined && !isStopped && end > facts.rowCount - MARGIN) read(list);
    },
    stop: () => controller.current?.abort(),
    goOn() {
      if (now.current.list !== undefined) read(now.current.list);
    },
  };
}
