/** Counts the turns of the event loop until it is stopped. */
export function countTurns(): { readonly count: number; stop(): void } {
  let count = 0;
  let stopped = false;
  const tick = (): void => {
    count++;
    if (!stopped) setImmediate(tick);
  };
  setImmediate(tick);
  return {
    get count() {
      return count;
    },
    stop() {
      stopped = true;
    },
  };
}
