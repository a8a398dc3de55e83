/** Seats that a request needs. */
export interface Width {
  /** Seats until the response. */
  readonly seats: number;
  /** Seats of the work after the response: notifying watchers. */
  readonly finalSeats: number;
  /** Duration of that work in milliseconds; the client doesn't wait for it. */
  readonly finalMs: number;
}

/** The width of most requests: one seat until the response. */
export const ordinary: Width = { seats: 1, finalSeats: 0, finalMs: 0 };

/** Most seats of a request. */
const mostSeats = 10;
/** Objects of a list that count as one seat. */
const objectsPerSeat = 100;

/** Shared widths, by number of seats. */
const plainWidths: readonly Width[] = Array.from({ length: mostSeats + 1 }, (_, seats) => ({
  ...ordinary,
  seats,
}));

/** Estimates of a list before it is read. */
export interface ListFacts {
  /** Number of objects of the resource type; undefined if unknown. */
  readonly stored: number | undefined;
  /** The limit of the request; 0 for none. */
  readonly limit: number;
  /** Whether a selector filters objects, so that the server reads more than it returns. */
  readonly selects: boolean;
}

/** The width of a list: 1 to 10 seats by the number of objects to read. */
export function listWidth({ stored, limit, selects }: ListFacts): Width {
  if (stored === undefined) return ordinary;
  const read = selects || limit === 0 ? stored : Math.min(stored, limit);
  return plainWidths[Math.min(mostSeats, Math.max(1, Math.ceil(read / objectsPerSeat)))]!;
}

/** Watchers of a change that count as one seat; fewer count as none. */
const watchersPerSeat = 10;
/**
 * Duration of the work after the response for one seat's watchers, in milliseconds. The reference assumes 5 ms, as its threads notify
 * watchers after the response. This server writes the frames before it, and ten watchers take about 0.05 ms.
 */
const watchDispatchMs = 0.5;

/**
 * The width of a change that a number of watchers receive: one seat until the response, then up to 10 seats. Above that, the work
 * takes longer instead.
 */
export function changeWidth(watchers: number): Width {
  if (watchers < watchersPerSeat) return ordinary;
  const seats = Math.ceil(watchers / watchersPerSeat);
  const finalSeats = Math.min(mostSeats, seats);
  return { seats: 1, finalSeats, finalMs: (seats * watchDispatchMs) / finalSeats };
}

/** The same work with at most the available seats; the work after the response takes longer instead. */
export function narrowed(width: Width, most: number): Width {
  if (width.seats <= most && width.finalSeats <= most) return width;
  const finalSeats = Math.min(width.finalSeats, most);
  const finalMs = finalSeats === 0 ? 0 : (width.finalMs * width.finalSeats) / finalSeats;
  return { seats: Math.min(width.seats, most), finalSeats, finalMs };
}
