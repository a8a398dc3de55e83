/** What a request takes of the seats of its level. */
export interface Width {
  /** Seats while it is worked on. */
  readonly seats: number;
  /** Seats of the work that it leaves behind: telling watchers what it changed. */
  readonly finalSeats: number;
  /** How long that work takes after the answer, in milliseconds. The client doesn't wait for it. */
  readonly finalMs: number;
}

/** A request like most: one seat until it is answered. */
export const ordinary: Width = { seats: 1, finalSeats: 0, finalMs: 0 };

/** No request takes more seats, whatever it does. */
const mostSeats = 10;
/** So many objects of a list cost as much as an ordinary request. */
const objectsPerSeat = 100;

/** Widths by their number of seats, made once. */
const plainWidths: readonly Width[] = Array.from({ length: mostSeats + 1 }, (_, seats) => ({
  ...ordinary,
  seats,
}));

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
export function listWidth({ stored, limit, selects }: ListFacts): Width {
  if (stored === undefined) return ordinary;
  const read = selects || limit === 0 ? stored : Math.min(stored, limit);
  return plainWidths[Math.min(mostSeats, Math.max(1, Math.ceil(read / objectsPerSeat)))]!;
}

/** So many watchers who are told of a change take one more seat; fewer take none. */
const watchersPerSeat = 10;
/**
 * For so long, where there are seats enough for all watchers at one time; in milliseconds. The reference takes 5 ms, for
 * threads that begin to tell them after the answer. Here the watchers' streams have their frames before it, and telling ten
 * watchers costs the thread about 0.05 ms.
 */
const tellingMs = 0.5;

/**
 * What a change takes that so many watchers will be told of: one seat until it is answered, then up to 10 for a while.
 * More watchers than these seats are for take longer instead.
 */
export function changeWidth(watchers: number): Width {
  if (watchers < watchersPerSeat) return ordinary;
  const wanted = Math.ceil(watchers / watchersPerSeat);
  const finalSeats = Math.min(mostSeats, wanted);
  return { seats: 1, finalSeats, finalMs: (wanted * tellingMs) / finalSeats };
}

/** The same work with no more seats than there are: what follows the answer takes longer instead. */
export function narrowed(width: Width, most: number): Width {
  if (width.seats <= most && width.finalSeats <= most) return width;
  const finalSeats = Math.min(width.finalSeats, most);
  const finalMs = finalSeats === 0 ? 0 : (width.finalMs * width.finalSeats) / finalSeats;
  return { seats: Math.min(width.seats, most), finalSeats, finalMs };
}
