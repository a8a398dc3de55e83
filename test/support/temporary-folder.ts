import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** A folder of its own, to be removed with `remove`. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const folder = mkdtempSync(path.join(tmpdir(), "plinth-test-"));
  // Again for a while: a server whose start is refused may still be writing a key.
  const options = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 };
  return { path: folder, remove: () => rmSync(folder, options) };
}
