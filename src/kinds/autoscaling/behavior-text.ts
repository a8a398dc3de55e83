/*
 * The annotation that keeps the behavior of an autoscaler in version v1 has the reference's own spelling: every member begins
 * with a capital, and what is absent is null. It is read in any spelling.
 */

interface Rules {
  readonly selectPolicy?: string | undefined;
  readonly policies?:
    readonly { readonly type: string; readonly value: number; readonly periodSeconds: number }[] | undefined;
  readonly stabilizationWindowSeconds?: number | undefined;
}

/** Encodes the behavior as the text of the annotation. */
export function behaviorText(behavior: {
  readonly scaleUp?: Rules | undefined;
  readonly scaleDown?: Rules | undefined;
}): string {
  return JSON.stringify({ ScaleUp: capitals(behavior.scaleUp), ScaleDown: capitals(behavior.scaleDown) });
}

function capitals(rules: Rules | undefined): object | null {
  if (rules === undefined) return null;
  const policies = rules.policies?.map(({ type, value, periodSeconds }) => ({
    Type: type,
    Value: value,
    PeriodSeconds: periodSeconds,
  }));
  return {
    StabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
    SelectPolicy: rules.selectPolicy ?? null,
    Policies: policies ?? null,
  };
}

/** Returns a JSON value whose member names start with a lower-case letter. */
export function withSmallNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSmallNames);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.slice(0, 1).toLowerCase() + name.slice(1),
      withSmallNames(member),
    ]),
  );
}
