/** Long tests, the changes that run them, and what remains of them in `npm test`. */
export const longTests: readonly {
  readonly tests: readonly string[];
  readonly touchedBy: readonly string[];
  readonly short: string;
}[];
export function longTestsOf(changed: readonly string[]): string[];
