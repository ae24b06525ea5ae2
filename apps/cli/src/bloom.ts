#!/usr/bin/env node
import { writeSync } from 'node:fs';
import { version } from '../package.json';
import { loadProgram } from './code-cache.js';

// Answered without the program, which takes longer to load than anything that it does here.
if (!(isVersionWanted() && printed(`${version}\n`))) void loadProgram().run();

function isVersionWanted(): boolean {
  const [, , option, ...others] = process.argv;
  return (option === '--version' || option === '-V') && others.length === 0;
}

/** Prints to standard output. @returns false if it cannot be written to: the program knows what to do then. */
function printed(text: string): boolean {
  try {
    writeSync(1, text);
    return true;
  } catch {
    return false;
  }
}
