/** LMDB's data file. */
export const dataFile = "data.mdb";

/** LMDB's lock file, with the reader table and the write lock. */
export const lockFile = "lock.mdb";

/** Magic number near the start of both files. */
export const lmdbMagic = 0xbeefc0de;
