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

/** Two lists of tolerations as one, without those that another one covers. */
export function mergeTolerations(
  first: readonly TolerationValue[],
  second: readonly TolerationValue[],
): TolerationValue[] {
  const all = [...first, ...second];
  return all.filter((one, index) => {
    const later = all.slice(index + 1).some((other) => covers(other, one));
    const earlier = all.slice(0, index).some((other) => covers(other, one) && !covers(one, other));
    return !later && !earlier;
  });
}
