/**
 * Makes the process exit with code 0 when a write fails because the reader of the output has closed it, as in `plinth types | head`.
 * Other output errors are thrown.
 */
export function endQuietlyWithReaders(): void {
  for (const output of [process.stdout, process.stderr]) {
    output.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      process.exit(0);
    });
  }
}
