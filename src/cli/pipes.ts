/**
 * Exits with code 0 when the reader of the output has closed it, as in `plinth types | head`. Other output errors
 * stay errors.
 */
export function endQuietlyWithReaders(): void {
  for (const output of [process.stdout, process.stderr]) {
    output.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      process.exit(0);
    });
  }
}
