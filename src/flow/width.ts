/** So many objects of a list cost as much as an ordinary request. */
const objectsPerSeat = 100;
const mostSeats = 10;

/** What is known of a list before it is read. */
export interface ListFacts {
  /** Objects of the resource type; undefined when nobody has counted them. */
  readonly stored: number | undefined;
  /** Objects that are asked for at most; 0: all. */
  readonly limit: number;
  /** Whether a selector leaves objects out, so that more are read than answered. */
  readonly selects: boolean;
}

/** How many seats a list takes: between 1 and 10, by the objects that are read for it. */
export function listSeats({ stored, limit, selects }: ListFacts): number {
  if (stored === undefined) return 1;
  const read = selects || limit === 0 ? stored : Math.min(stored, limit);
  return Math.min(mostSeats, Math.max(1, Math.ceil(read / objectsPerSeat)));
}
