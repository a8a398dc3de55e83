/** The file in which LMDB keeps everything. */
export const dataFile = "data.mdb";

/** The file through which the processes over a folder agree on who reads what and who writes. */
export const lockFile = "lock.mdb";

/** The number near the beginning of both. */
export const lmdbMagic = 0xbeefc0de;
