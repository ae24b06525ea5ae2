// The script of a page. The page's `findings` are a promise.
import { pageFindings } from './page-findings.js';

Object.assign(globalThis, { findings: pageFindings() });
