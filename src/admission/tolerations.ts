import type { TolerationValue } from "./pod-spec.ts";

/** Whether two tolerations have the same key and effect but are not equal. */
export function contradict(one: TolerationValue, other: TolerationValue): boolean {
  const sameTaint = (one.key ?? "") === (other.key ?? "") && (one.effect ?? "") === (other.effect ?? "");
  return sameTaint && !areEqual(one, other);
}

function areEqual(one: TolerationValue, other: TolerationValue): boolean {
  return (
    (one.key ?? "") === (other.key ?? "") &&
    operatorOf(one) === operatorOf(other) &&
    (one.value ?? "") === (other.value ?? "") &&
    (one.effect ?? "") === (other.effect ?? "") &&
    one.tolerationSeconds === other.tolerationSeconds
  );
}

function operatorOf({ operator = "" }: TolerationValue): string {
  return operator === "" ? "Equal" : operator;
}

/** Whether a toleration tolerates everything that another one tolerates, for at least as long. */
export function covers(wide: TolerationValue, narrow: TolerationValue): boolean {
  if (areEqual(wide, narrow)) return true;
  const anyKey = (wide.key ?? "") === "" && operatorOf(wide) === "Exists";
  if (!anyKey && (wide.key ?? "") !== (narrow.key ?? "")) return false;
  const { effect = "" } = wide;
  if (effect !== "" && effect !== (narrow.effect ?? "")) return false;
  if (effect === "NoExecute" && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds)
      return false;
  }
  if (operatorOf(wide) === "Exists") return true;
  return operatorOf(narrow) === "Equal" && (wide.value ?? "") === (narrow.value ?? "");
}

/**
 * Merges two lists of tolerations. A toleration that another one covers is dropped; of equal ones the first is kept. Linear in
 * the number of tolerations.
 */
export function mergeTolerations(
  first: readonly TolerationValue[],
  second: readonly TolerationValue[],
): TolerationValue[] {
  const tolerations = [...first, ...second];
  const widest = new Map<string, { readonly seconds: number; readonly index: number }>();
  for (const [index, toleration] of tolerations.entries()) {
    const [taint] = taintsOf(toleration);
    const seconds = toleration.effect === "NoExecute" ? secondsOf(toleration) : Infinity;
    const current = widest.get(taint!);
    if (current === undefined || seconds > current.seconds) widest.set(taint!, { seconds, index });
  }
  return tolerations.filter((toleration, index) => {
    const [own, ...wider] = taintsOf(toleration);
    return (
      widest.get(own!)!.index === index &&
      !wider.some((taint) => (widest.get(taint)?.seconds ?? -Infinity) >= secondsOf(toleration))
    );
  });
}

/** The duration of a toleration in seconds; Infinity without a limit. */
function secondsOf({ tolerationSeconds }: TolerationValue): number {
  return tolerationSeconds === undefined ? Infinity : Number(tolerationSeconds);
}

/** Returns a key for the set of taints that a toleration tolerates, followed by the keys of all larger sets that contain it. */
function taintsOf(toleration: TolerationValue): string[] {
  const { key = "", effect = "", value = "" } = toleration;
  const keyOf = (...parts: string[]) => JSON.stringify(parts);
  const operator = operatorOf(toleration);
  const own = operator === "Exists" ? keyOf(key, effect, operator) : keyOf(key, effect, operator, value);
  const effects = [effect, ""];
  const supersets = [
    ...effects.map((some) => keyOf("", some, "Exists")),
    ...effects.map((some) => keyOf(key, some, "Exists")),
    ...(operator === "Equal" ? effects.map((some) => keyOf(key, some, operator, value)) : []),
  ];
  return [own, ...new Set(supersets.filter((taints) => taints !== own))];
}
