import type { TolerationValue } from "./pod-spec.ts";

/** Whether two tolerations are about the same taint and say different things of it. */
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

/** Whether all that one toleration allows is allowed by another one. */
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
 * Two lists of tolerations as one, without those that another one covers; of equal ones the first stays. Linear in the number of
 * tolerations.
 */
export function mergeTolerations(
  first: readonly TolerationValue[],
  second: readonly TolerationValue[],
): TolerationValue[] {
  const all = [...first, ...second];
  const widest = new Map<string, { readonly seconds: number; readonly index: number }>();
  for (const [index, one] of all.entries()) {
    const [taint] = taintsOf(one);
    const seconds = one.effect === "NoExecute" ? secondsOf(one) : Infinity;
    const current = widest.get(taint!);
    if (current === undefined || seconds > current.seconds) widest.set(taint!, { seconds, index });
  }
  return all.filter((one, index) => {
    const [own, ...wider] = taintsOf(one);
    return (
      widest.get(own!)!.index === index &&
      !wider.some((taint) => (widest.get(taint)?.seconds ?? -Infinity) >= secondsOf(one))
    );
  });
}

/** How long a toleration holds, in seconds. */
function secondsOf({ tolerationSeconds }: TolerationValue): number {
  return tolerationSeconds === undefined ? Infinity : Number(tolerationSeconds);
}

/** The taints that a toleration tolerates, as a key of a map; and the keys of all tolerations that tolerate more than these. */
function taintsOf(one: TolerationValue): string[] {
  const { key = "", effect = "", value = "" } = one;
  const keyOf = (...parts: string[]) => JSON.stringify(parts);
  const operator = operatorOf(one);
  const own = operator === "Exists" ? keyOf(key, effect, operator) : keyOf(key, effect, operator, value);
  const effects = [effect, ""];
  const all = [
    ...effects.map((some) => keyOf("", some, "Exists")),
    ...effects.map((some) => keyOf(key, some, "Exists")),
    ...(operator === "Equal" ? effects.map((some) => keyOf(key, some, operator, value)) : []),
  ];
  return [own, ...new Set(all.filter((taints) => taints !== own))];
}
