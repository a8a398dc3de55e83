import { objectAs } from "../../schema/api-object.ts";
import { andThen } from "../../base/turns/maybe-promise.ts";
import { compareQuantities, parseQuantity } from "../../base/quantity.ts";
import { RuntimeClass } from "../../kinds/node/runtime-class.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import { concernsPods, type AdmissionPlugin } from "../admission-chain.ts";
import type { VocabularyBehavior } from "../../vocabulary/behavior.ts";
import type { AdmissionFacts } from "../followed-objects.ts";
import { forbidden } from "../forbidden.ts";
import { podOf, type PodSpecValue } from "../pod-spec.ts";
import { mergeTolerations } from "../tolerations.ts";

/**
 * RuntimeClass: a new pod gets the overhead, the node selector and the tolerations of its runtime class. It is rejected if the
 * class is missing, the pod sets another overhead, or the node selectors contradict each other (spec: conventions 4.13).
 */
export function runtimeClass(
  facts: AdmissionFacts,
  { overheadOfRuntimeClass }: VocabularyBehavior,
): AdmissionPlugin {
  const classes = facts.of(RuntimeClass, (object) => objectAs<RuntimeClass>(object));
  return {
    name: "RuntimeClass",
    concerns: concernsPods("CREATE"),
    mutate(request) {
      const { spec } = podOf(request);
      const name = spec.runtimeClassName ?? "";
      if (!overheadOfRuntimeClass && Object.keys(spec.overhead ?? {}).length > 0) {
        throw forbidden(
          request.target,
          "pod rejected: the overhead is set by the runtime class and may not be set",
        );
      }
      if (name === "") return;
      return andThen(classes.get("", name), (runtimeClass) => {
        if (runtimeClass === undefined) {
          throw forbidden(request.target, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
        }
        checkOverhead(request, spec, runtimeClass);
        fill(request, spec, runtimeClass);
      });
    },
    validate(request) {
      const { spec } = podOf(request);
      const name = spec.runtimeClassName ?? "";
      return andThen(name === "" ? undefined : classes.get("", name), (runtimeClass) => {
        checkOverhead(request, spec, runtimeClass);
      });
    },
  };
}

/** Rejects an overhead that differs from that of the class. */
function checkOverhead(
  request: AdmissionRequest,
  spec: PodSpecValue,
  runtimeClassOfPod: RuntimeClass | undefined,
): void {
  const own = spec.overhead;
  if (own === undefined || sameAmounts(own, runtimeClassOfPod?.overhead?.podFixed ?? {})) return;
  const why = "Pod's Overhead doesn't match RuntimeClass's defined Overhead";
  throw forbidden(request.target, `pod rejected: ${why}`);
}

function sameAmounts(some: Amounts, others: Amounts): boolean {
  const names = Object.keys(some);
  return (
    names.length === Object.keys(others).length &&
    names.every(
      (name) =>
        Object.hasOwn(others, name) &&
        compareQuantities(parseQuantity(some[name]!), parseQuantity(others[name]!)) === 0,
    )
  );
}

type Amounts = Readonly<Record<string, string>>;

/** Applies the class to a pod. */
function fill(request: AdmissionRequest, spec: PodSpecValue, { overhead, scheduling }: RuntimeClass): void {
  if (overhead?.podFixed !== undefined) spec.overhead = { ...overhead.podFixed };
  if (scheduling === undefined) return;
  const own = spec.nodeSelector ?? {};
  for (const [key, value] of Object.entries(scheduling.nodeSelector ?? {})) {
    if (!Object.hasOwn(own, key) || own[key] === value) continue;
    throw forbidden(
      request.target,
      `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own[key]}`,
    );
  }
  if (scheduling.nodeSelector !== undefined) spec.nodeSelector = { ...own, ...scheduling.nodeSelector };
  if (scheduling.tolerations !== undefined) {
    spec.tolerations = mergeTolerations(spec.tolerations ?? [], scheduling.tolerations);
  }
}
