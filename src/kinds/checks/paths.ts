import type { FieldReport } from "../../schema/faults.ts";

/** Requires a path without the segment `..`. */
export function noBacksteps(path: string, place: FieldReport): void {
  if (path.split("/").includes("..")) place.invalid(path, "must not contain '..'");
}

/** Requires a relative path that doesn't leave its base folder. */
export function descendingPath(path: string, place: FieldReport): void {
  if (path.startsWith("/")) place.invalid(path, "must be a relative path");
  noBacksteps(path, place);
}

/** Requires the path of a file in a volume: below its root, and none of the names that the writer of such volumes uses. */
export function volumeFilePath(path: string, place: FieldReport): void {
  descendingPath(path, place);
  if (path.startsWith("..") && path !== ".." && !path.startsWith("../")) {
    place.invalid(path, "must not start with '..'");
  }
}
