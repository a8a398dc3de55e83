/** Why a file can't be read, as people are told: that it isn't there, or what the system says. */
export function whyUnreadable(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "ENOENT" ? "the file doesn't exist" : message;
}
