/** The worker that has the database open. */
import { serveLevels } from '@bloom/level/worker';

serveLevels();
