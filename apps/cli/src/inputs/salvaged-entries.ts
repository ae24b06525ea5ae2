// A file of its own, so that it can be loaded by itself, and a bundle has nothing else of the package.
export { salvagedEntries } from '@bloom/sstable/inspect';
