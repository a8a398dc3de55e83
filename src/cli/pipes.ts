/**
 * Ends the process with exit code 0 when whoever reads its output has left, as with `plinth types | head`: nobody wants the rest. Other
 * failures of the output stay errors.
 */
export function endQuietlyWithReaders(): void {
  for (const output of [process.stdout, process.stderr]) {
    output.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      process.exit(0);
    });
  }
}
