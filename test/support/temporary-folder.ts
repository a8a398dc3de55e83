import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** A folder of its own, to be removed with `remove`. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const folder = mkdtempSync(path.join(tmpdir(), "plinth-test-"));
  return { path: folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
