import { DatabaseError } from './database-error.js';

/**
 * Code that is loaded on demand. If that fails, the next call loads it again.
 *
 * @throws DatabaseError `BLOOM_NOT_LOADED`.
 */
export async function loadedCode<Module>(loading: Promise<Module>): Promise<Module> {
  try {
    return await loading;
  } catch (cause) {
    throw new DatabaseError('BLOOM_NOT_LOADED', 'code could not be loaded: try again, or reload the page', { cause });
  }
}
