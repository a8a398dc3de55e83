import { stat } from "node:fs/promises";

/**
 * Receives the progress of a long operation on a data folder. It is called often, and must return quickly and not throw.
 *
 * @param step what is done, for example `checking values`.
 * @param share the part of the step that is done, from 0 to 1.
 */
export type Progress = (step: string, share: number) => void;

export const noProgress: Progress = () => undefined;

/** How often the size of a growing file is read. */
const sizeReadMs = 200;

/** Runs an operation that writes a file without reporting progress, and reports the size of the file. */
export async function whileGrowing<T>(
  file: { readonly path: string; readonly bytes: number },
  step: string,
  progress: Progress,
  write: () => Promise<T>,
): Promise<T> {
  const report = async () => {
    try {
      const { size } = await stat(file.path);
      progress(step, Math.min(1, size / Math.max(1, file.bytes)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      progress(step, 0);
    }
  };
  // A file that can't be read fails the operation itself, which has the clearer error.
  const timer = setInterval(() => void report().catch(() => clearInterval(timer)), sizeReadMs);
  try {
    return await write();
  } finally {
    clearInterval(timer);
  }
}
