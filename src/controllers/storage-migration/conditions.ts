/** A condition of a migration or of a definition. */
export interface WrittenCondition {
  readonly type: string;
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
}

/** A condition as stored. */
export type StoredCondition = Omit<WrittenCondition, "status"> & {
  readonly status: string;
  readonly lastTransitionTime?: unknown;
};

/** Returns the conditions with one of them set; its time changes with its status. */
export function withCondition(
  conditions: readonly StoredCondition[],
  condition: WrittenCondition,
  now: string,
): readonly StoredCondition[] {
  const index = conditions.findIndex(({ type }) => type === condition.type);
  const before = conditions[index];
  const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : now;
  const written = { ...condition, lastTransitionTime };
  return before === undefined ? [...conditions, written] : conditions.with(index, written);
}

/** Whether a condition is true. */
export function isTrue(conditions: readonly StoredCondition[], type: string): boolean {
  return conditions.find((one) => one.type === type)?.status === "True";
}
