import { objectAs } from "../../schema/api-object.ts";
import { andThen } from "../../base/turns/maybe-promise.ts";
import { Pod } from "../../kinds/core/pod/pod.ts";
import { PriorityClass } from "../../kinds/scheduling/priority-class.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import { concernsOnly, isOf, type AdmissionPlugin } from "../admission-chain.ts";
import type { AdmissionFacts } from "../followed-objects.ts";
import { forbidden } from "../forbidden.ts";
import { podOf } from "../pod-spec.ts";

/** The attributes of a priority class that the plugin reads. */
interface ClassFacts {
  readonly name: string;
  readonly value: number;
  readonly isDefault: boolean;
  readonly preemptionPolicy: string;
}

/** The priority of pods without a class if there is no default class. */
const noClass: ClassFacts = {
  name: "",
  value: 0,
  isDefault: false,
  preemptionPolicy: "PreemptLowerPriority",
};

/**
 * Priority: a new pod gets the priority and the preemption policy of its class or of the default class. It is rejected if the
 * class is missing or the pod sets other values. Only one class may be the default (spec: conventions 4.13).
 */
export function priority(facts: AdmissionFacts): AdmissionPlugin {
  const classes = facts.of(PriorityClass, (object) => {
    const { metadata, value, globalDefault, preemptionPolicy } = objectAs<PriorityClass>(object);
    return {
      name: metadata.name!,
      value,
      isDefault: globalDefault === true,
      preemptionPolicy: preemptionPolicy ?? "PreemptLowerPriority",
    };
  });
  const fill = (request: AdmissionRequest) => {
    const { spec } = podOf(request);
    const className = spec.priorityClassName ?? "";
    return andThen(classes.in(""), (all) => {
      const priorityClass = className === "" ? defaultOf(all) : all.find(({ name }) => name === className);
      if (priorityClass === undefined) {
        throw forbidden(request.target, `no PriorityClass with name ${className} was found`);
      }
      setPriority(request, priorityClass);
    });
  };
  return {
    name: "Priority",
    concerns: concernsOnly([Pod, PriorityClass], "CREATE", "UPDATE"),
    mutate(request) {
      if (!isOf(request.target, Pod)) return;
      return request.operation === "CREATE" ? fill(request) : keep(request);
    },
    validate(request) {
      const { target, object, operation } = request;
      if (!isOf(target, PriorityClass) || objectAs<PriorityClass>(object!).globalDefault !== true) return;
      return andThen(classes.in(""), (all) => {
        const other = all.find(
          ({ name, isDefault }) => isDefault && (operation === "CREATE" || name !== target.name),
        );
        if (other === undefined) return;
        throw forbidden(
          target,
          `PriorityClass ${other.name} is already marked as default. Only one default can exist`,
        );
      });
    },
  };
}

/** Returns the default class; of several, which earlier releases allowed, the one with the lowest value. */
function defaultOf(all: readonly ClassFacts[]): ClassFacts {
  const defaults = all.filter(({ isDefault }) => isDefault);
  return defaults.toSorted((a, b) => a.value - b.value)[0] ?? noClass;
}

function setPriority(request: AdmissionRequest, found: ClassFacts): void {
  const { spec } = podOf(request);
  if (spec.priority !== undefined && spec.priority !== found.value) {
    throw forbidden(
      request.target,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission ` +
        `controller computed ${found.value} from the given PriorityClass name`,
    );
  }
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== found.preemptionPolicy) {
    throw forbidden(
      request.target,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority ` +
        `admission controller computed ${found.preemptionPolicy} from the given PriorityClass name`,
    );
  }
  if (found.name !== "") spec.priorityClassName = found.name;
  spec.priority = found.value;
  spec.preemptionPolicy = found.preemptionPolicy;
}

/** Keeps the priority in an update without one, for clients that don't know the field. */
function keep(request: AdmissionRequest): void {
  const { spec } = podOf(request);
  const before = objectAs<Pod>(request.live!).spec;
  if (before?.priority !== undefined) spec.priority ??= before.priority;
  if (before?.preemptionPolicy !== undefined) spec.preemptionPolicy ??= before.preemptionPolicy;
}
