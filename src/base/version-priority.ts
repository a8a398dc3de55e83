const form = /^v(\d+)(?:(alpha|beta)(\d+))?$/;
const levels: Readonly<Record<string, number>> = { alpha: 0, beta: 1 };

/**
 * Compares versions of a group by the preference of clients: stable versions, then betas, then alphas, each newest first; then all
 * others by name.
 */
export function comparePriority(a: string, b: string): number {
  const [one, other] = [form.exec(a), form.exec(b)];
  if (one === null || other === null) {
    if (one === null && other === null) return a < b ? -1 : a > b ? 1 : 0;
    return one === null ? 1 : -1;
  }
  const level = (match: RegExpExecArray): number => levels[match[2] ?? ""] ?? 2;
  return (
    level(other) - level(one) ||
    Number(other[1]) - Number(one[1]) ||
    Number(other[3] ?? 0) - Number(one[3] ?? 0)
  );
}
