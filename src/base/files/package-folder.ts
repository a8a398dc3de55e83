import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Returns the folder of this package, whether the code runs from its sources or from a bundle. */
export function packageFolder(): string {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(folder, "package.json"))) folder = path.dirname(folder);
  return folder;
}
