/** The delay in milliseconds, after which browsers have started the download. */
const REVOKED_AFTER_MS = 60_000;

/** Saves a file as a download. */
export function saveAs(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), REVOKED_AFTER_MS);
}
