#!/usr/bin/env node
import { writeSync } from 'node:fs';
import { version } from '../package.json';
import { loadProgram } from './code-cache.js';

// Answered here, because loading the program takes longer than answering.
if (!(isVersionWanted() && printed(`${version}\n`))) void loadProgram().run();

function isVersionWanted(): boolean {
  const [, , option, ...others] = process.argv;
  return (option === '--version' || option === '-V') && others.length === 0;
}

/** Prints to standard output. @returns false if that fails: the program then handles the error. */
function printed(text: string): boolean {
  try {
    writeSync(1, text);
    return true;
  } catch {
    return false;
  }
}
