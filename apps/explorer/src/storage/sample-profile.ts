import type { DroppedFile } from '../controls/dropped-files.js';
import { sampleUrl, STORED_SAMPLE_FILES } from '../session/sample-url.js';
import { profileOf } from './dropped-profile.js';
import { type ProfileOrigin, sampleProfile } from './profile-origin.js';

/** Fetches the files of the sample. */
export async function loadSampleProfile(signal?: AbortSignal): Promise<ProfileOrigin> {
  const files = await Promise.all(
    STORED_SAMPLE_FILES.map(async (path): Promise<DroppedFile> => {
      const response = await fetch(sampleUrl(`web/${path}`), { signal: signal ?? null });
      if (!response.ok) throw new Error(`the sample could not be loaded: HTTP ${response.status}`);
      return { path, file: new File([await response.blob()], path.slice(path.lastIndexOf('/') + 1)) };
    }),
  );
  return { ...profileOf(files), name: sampleProfile.name };
}
