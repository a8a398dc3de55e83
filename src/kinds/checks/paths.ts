import type { FieldReport } from "../../schema/faults.ts";

/** Requires a path without the segment `..`. */
export function noBacksteps(path: string, report: FieldReport): void {
  if (path.split("/").includes("..")) report.invalid(path, "must not contain '..'");
}

/** Requires a relative path that doesn't leave its base folder. */
export function descendingPath(path: string, report: FieldReport): void {
  if (path.startsWith("/")) report.invalid(path, "must be a relative path");
  noBacksteps(path, report);
}

/**
 * Requires the path of a file in a volume: a relative path without `..` whose first segment doesn't start with `..`, as the node agent
 * uses names such as `..data` itself.
 */
export function volumeFilePath(path: string, report: FieldReport): void {
  descendingPath(path, report);
  if (path.startsWith("..") && path !== ".." && !path.startsWith("../")) {
    report.invalid(path, "must not start with '..'");
  }
}
