/** How often a process checks whether its parent is alive. */
const checkMs = 500;

/** Resolves when the parent process has ended, so that a killed test run leaves no processes behind. */
export function parentEnd(): Promise<void> {
  const parent = process.ppid;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      resolve();
    }, checkMs);
    timer.unref();
  });
}
