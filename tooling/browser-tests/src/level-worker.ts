// Where pages look for the worker that comes with the package, in the folder of their own script.
import { serveLevels } from '@bloom/level/worker';

serveLevels();
