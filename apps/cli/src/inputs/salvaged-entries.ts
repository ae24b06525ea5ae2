// A separate file that is loaded on demand, so that its bundle has nothing else of the package.
export { salvagedEntries } from '@bloom/sstable/inspect';
