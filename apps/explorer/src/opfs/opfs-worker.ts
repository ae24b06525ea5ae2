/** The worker that has the kept database open. */
import { serveLevels } from '@bloom/level/worker';

serveLevels();
