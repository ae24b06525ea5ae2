// A program. It prints its findings as JSON.
import { serverFindings } from './server-findings.js';

console.log(JSON.stringify(await serverFindings()));
