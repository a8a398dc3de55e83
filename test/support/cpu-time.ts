/**
 * Measures milliseconds of this process's processor time, which other programs on the machine don't lengthen much.
 *
 * @returns how much was used since the call.
 */
export function cpuStopwatch(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
}
