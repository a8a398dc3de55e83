import { renameSync, rmSync, writeFileSync } from "node:fs";

/**
 * Writes a small file that only its owner may read (mode 0600), atomically; an existing file is replaced. Synchronous: one write of a few
 * kilobytes.
 *
 * @throws {NodeJS.ErrnoException} if it can't be written; an existing file is unchanged.
 */
export function writePrivateFile(file: string, text: string): void {
  const fresh = `${file}.${process.pid}.new`;
  try {
    // A leftover of a killed process may have another mode.
    rmSync(fresh, { force: true });
    writeFileSync(fresh, text, { mode: 0o600, flag: "wx" });
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}
