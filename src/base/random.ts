import { createHash, randomInt, randomUUID } from "node:crypto";

/** Source of the random values of a server that aren't secret: uids, generated names, choices among addresses. */
export interface Random {
  /**
   * Returns an integer of at least 0 and less than a limit.
   *
   * @param limit 1 to 2^47.
   * @param purpose what the value is for; see {@link seededRandom}.
   */
  below(limit: number, purpose: string): number;
  /** Returns a random UUID (version 4). */
  uuid(purpose: string): string;
}

/** Different values in each run. */
const systemRandom: Random = {
  below: (limit) => randomInt(limit),
  uuid: () => randomUUID(),
};

/**
 * Creates a source that returns the same values in each run. Each purpose has a sequence of its own, so that the values of a purpose don't
 * depend on the order in which values of different purposes are requested.
 *
 * For tests: its memory grows with the number of purposes.
 */
export function seededRandom(seed: number): Random {
  const counts = new Map<string, number>();
  const next = (purpose: string): Buffer => {
    const count = (counts.get(purpose) ?? 0) + 1;
    counts.set(purpose, count);
    return createHash("sha256")
      .update(JSON.stringify([seed, purpose, count]))
      .digest();
  };
  return {
    below: (limit, purpose) => next(purpose).readUIntBE(0, 6) % limit,
    uuid(purpose) {
      const bytes = next(purpose).subarray(0, 16);
      bytes[6] = (bytes[6]! & 0x0f) | 0x40;
      bytes[8] = (bytes[8]! & 0x3f) | 0x80;
      const hex = bytes.toString("hex");
      return [
        [0, 8],
        [8, 12],
        [12, 16],
        [16, 20],
        [20, 32],
      ]
        .map(([from, to]) => hex.slice(from, to))
        .join("-");
    },
  };
}

/** Functions that return random values for one server. */
export interface RandomValues {
  /** Returns a random integer of at least 0 and less than `below`. */
  readonly randomInt: (below: number, purpose?: string) => number;
  readonly newUid: (purpose?: string) => string;
}

/** Returns the functions of a source; that of the machine by default. */
export function randomValues({
  random = systemRandom,
}: {
  readonly random?: Random | undefined;
}): RandomValues {
  return {
    randomInt: (below, purpose = "") => random.below(below, purpose),
    newUid: (purpose = "") => random.uuid(purpose),
  };
}
