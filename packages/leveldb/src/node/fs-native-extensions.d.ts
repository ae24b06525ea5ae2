// The package has no types of its own. What is used of it:
declare module 'fs-native-extensions' {
  const locks: {
    /** Locks a whole file; false when another holds a lock of it. */
    tryLock(fd: number): boolean;
    unlock(fd: number): void;
  };
  export default locks;
}
