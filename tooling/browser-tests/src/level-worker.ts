// Where pages look for the worker that comes with the package, beside their own script.
import { serveLevels } from '@bloom/level/worker';

serveLevels();
