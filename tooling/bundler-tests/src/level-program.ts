// A program. It prints its findings as JSON. Without top-level await, so that it can become CommonJS.
import { levelFindings } from './level-findings.js';

void levelFindings().then((findings) => console.log(JSON.stringify(findings)));
