/**
 * The library whose private page format `meta-pages.ts`, `page-walk.ts` and `syncs/` read and write: the version of the npm package, and how
 * its compiled part names itself. Before another version is added here, compare its page header, meta page and tree description with theirs.
 */
export const knownLibrary = { package: "3.5.6", compiled: "LMDB 0.9.90: (May 1, 2017)" } as const;

/** LMDB's data file. */
export const dataFile = "data.mdb";

/** LMDB's lock file, with the reader table and the write lock. */
export const lockFile = "lock.mdb";

/** Magic number near the start of both files. */
export const lmdbMagic = 0xbeefc0de;
