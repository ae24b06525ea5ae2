// A program that prints the filters that it makes, for Deno and Bun.
import { policyFigures } from './policy-figures.js';

console.log(JSON.stringify(policyFigures()));
