/** Works on values, at most `width` at once. */
export async function inParallel<T>(
  values: readonly T[],
  width: number,
  work: (value: T) => Promise<void>,
): Promise<void> {
  const queue = [...values].toReversed();
  const worker = async () => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) await work(next);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
