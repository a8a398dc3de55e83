import type { Since } from "../schema/context.ts";
import type { Column } from "../schema/columns.ts";
import type { ApiObject } from "../schema/kind.ts";

/** Column `Name` of every table. */
export const nameColumn: Column<ApiObject> = {
  name: "Name",
  type: "string",
  format: "name",
  doc: "Name of the object, unique for the kind; of a namespaced kind, within the namespace.",
  cell: (object) => object.metadata.name ?? "",
};

/** Column `Age`: how long ago the object was created. */
export const ageColumn: Column<ApiObject> = {
  name: "Age",
  type: "string",
  doc: "Time since the creation of the object.",
  jsonPath: ".metadata.creationTimestamp",
  definedType: "date",
  ...agedCell((object: ApiObject, since) => since(object.metadata.creationTimestamp)),
};

/** Column `Created At`: the time of the creation of the object. */
export const createdColumn: Column<ApiObject> = {
  name: "Created At",
  type: "date",
  doc: "Time of the creation of the object.",
  cell: (object) => object.metadata.creationTimestamp ?? null,
};

/** The table of kinds that declare no columns (spec: conventions 2.4). */
export const defaultColumns: readonly Column<ApiObject>[] = [nameColumn, createdColumn];

/**
 * Returns the cell of a column of ages.
 *
 * @param ages computes the cell; it calls `since` for each time.
 */
export function agedCell<O>(ages: (object: O, since: Since) => unknown): Pick<Column<O>, "cell" | "ages"> {
  return { ages, cell: (object, now) => ages(object, (timestamp) => age(timestamp, now)) };
}

/** Returns the time since a timestamp in kubectl's short form: `45s`, `3m20s`, `5h2m`, `2d4h`, `400d`. */
export function age(timestamp: string | null | undefined, now: number): string {
  if (timestamp === undefined || timestamp === null) return "<unknown>";
  return ageOf(Date.parse(timestamp), now);
}

/** As {@link age}, of a time in milliseconds since 1970. */
export function ageOf(time: number, now: number): string {
  const seconds = Math.floor((now - time) / 1000);
  if (seconds < -1) return "<invalid>";
  return shortDuration(Math.max(0, seconds));
}

/**
 * Formats a duration in kubectl's short form: the largest unit, and the next one while it is significant; rounded as in
 * the reference.
 */
export function shortDuration(seconds: number): string {
  if (seconds < 60 * 2) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return pair(minutes, "m", seconds % 60, "s");
  if (minutes < 60 * 3) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return pair(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return pair(days, "d", hours % 24, "h");
  if (days < 365 * 2) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? pair(years, "y", days % 365, "d") : `${years}y`;
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}
