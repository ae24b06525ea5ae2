import { PACES, type PaceName } from './pace.js';

/** The state of the view of the live database. */
export interface LiveQuery {
  readonly key: string;
  readonly pace: PaceName;
}

export const NEW_LIVE: LiveQuery = { key: 'user/0042', pace: 'slow' };

export function liveFromParams(params: URLSearchParams): LiveQuery {
  return { key: params.get('key') ?? NEW_LIVE.key, pace: PACES.find((pace) => pace === params.get('pace')) ?? NEW_LIVE.pace };
}

export function paramsOfLive(params: URLSearchParams, { key, pace }: LiveQuery): void {
  if (key !== NEW_LIVE.key) params.set('key', key);
  if (pace !== NEW_LIVE.pace) params.set('pace', pace);
}
