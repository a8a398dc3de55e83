/** Returns why a file can't be read, for messages: it doesn't exist, or the system's error. */
export function whyUnreadable(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "ENOENT" ? "the file doesn't exist" : message;
}
