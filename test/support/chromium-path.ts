import { accessSync, constants } from "node:fs";
import path from "node:path";

/** Returns the path of the installed Chromium: that of `PLINTH_CHROMIUM`, or one in the folders of programs; undefined if there is none. */
export function chromiumPath(): string | undefined {
  const { PLINTH_CHROMIUM: named, PATH: folders = "" } = process.env;
  if (named !== undefined && named !== "") return named;
  return folders
    .split(path.delimiter)
    .map((folder) => path.join(folder, "chromium"))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    // Missing, or not a program.
    return false;
  }
}
