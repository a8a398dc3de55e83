/** Counts how the conditions of webhooks decide, by the name of the authorizer; for metrics. */
export class MatchCounters {
  private readonly byName = new Map<string, { exclusions: number; errors: number }>();

  /** @param outcome `exclusions`: a condition was false; `errors`: one couldn't be evaluated. */
  add(name: string, outcome: "exclusions" | "errors"): void {
    let counts = this.byName.get(name);
    if (counts === undefined) this.byName.set(name, (counts = { exclusions: 0, errors: 0 }));
    counts[outcome]++;
  }

  all(): Iterable<readonly [name: string, counts: { readonly exclusions: number; readonly errors: number }]> {
    return this.byName;
  }
}
