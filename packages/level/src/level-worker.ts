/** The worker that a page starts for a level. */
import { serveLevels } from './worker.js';

serveLevels();
