import { StoreDamagedError } from "../store.ts";
import { decodeState, isStateSound, readUint64, type State } from "./layout.ts";

/** Reads the state record; keeps no reference to the bytes of lmdb-js. */
export function stateIn(bytes: Buffer | undefined): State {
  if (bytes === undefined) throw new StoreDamagedError("the store's state record is missing");
  return decodeState(bytes);
}

/**
 * Like {@link stateIn}, with verification of the checksum, for writes that are based on it.
 *
 * @throws {StoreDamagedError} if the record is missing or damaged.
 */
export function soundStateIn(bytes: Buffer | undefined): State {
  if (bytes !== undefined && !isStateSound(bytes))
    throw new StoreDamagedError("the store's state record is damaged: restore a backup into an empty folder");
  return stateIn(bytes);
}

/** Returns a stored number; 0 if it is absent. */
export function numberIn(bytes: Buffer | undefined): number {
  return bytes === undefined ? 0 : readUint64(bytes, 0);
}
