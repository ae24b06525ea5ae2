import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const SHELLS = ['chromium-headless-shell', 'chrome-headless-shell'];
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

/** The path of the installed Chromium, if there is one: preferably of the headless shell, which takes less processor time than a whole browser. */
export function findChromium(): string | undefined {
  return findProgram([...SHELLS, ...BROWSERS]);
}

/** The path of the installed Chromium, if it is a whole browser, which unlike the headless shell keeps Session Storage when it ends. */
export function findWholeChromium(): string | undefined {
  return findProgram(BROWSERS);
}

function findProgram(names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
