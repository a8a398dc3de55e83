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

/** Resolves when the process receives SIGINT or SIGTERM. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}
