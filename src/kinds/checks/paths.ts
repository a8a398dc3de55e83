import type { FieldReport } from "../../schema/faults.ts";

/** A path none of whose parts is `..`. */
export function noBacksteps(path: string, place: FieldReport): void {
  if (path.split("/").includes("..")) place.invalid(path, "must not contain '..'");
}

/** A path that stays below the place from which it is followed. */
export function descendingPath(path: string, place: FieldReport): void {
  if (path.startsWith("/")) place.invalid(path, "must be a relative path");
  noBacksteps(path, place);
}

/** The path of a file in a volume: below its root, and none of the names that the writer of such volumes uses. */
export function volumeFilePath(path: string, place: FieldReport): void {
  descendingPath(path, place);
  if (path.startsWith("..") && path !== ".." && !path.startsWith("../")) {
    place.invalid(path, "must not start with '..'");
  }
}
