import { addQuantities, type Quantity } from "../../../base/quantity.ts";
import { isSidecar } from "../../../kinds/core/pod/restart-policy.ts";
import { addUsage, raiseUsage, usageOf, type Usage } from "./usage.ts";

type Amounts = Readonly<Record<string, string>> | undefined;

interface Container {
  readonly restartPolicy?: string | undefined;
  readonly resources?: { readonly requests?: Amounts; readonly limits?: Amounts } | undefined;
}

/** The parts of a pod's spec that determine its usage. */
export interface MeasuredSpec {
  readonly containers?: readonly Container[] | undefined;
  readonly initContainers?: readonly Container[] | undefined;
  readonly resources?: Container["resources"];
}

/**
 * Returns the requests or limits of a pod: the sum of its containers and sidecars or, if larger, the largest init container with the
 * sidecars that start before it. Resources of the whole pod go before those of its containers. The overhead isn't included.
 */
export function podUsage(
  spec: MeasuredSpec | undefined,
  member: "requests" | "limits",
): Map<string, Quantity> {
  const usage = new Map<string, Quantity>();
  const sidecars = new Map<string, Quantity>();
  const starting: Usage[] = [];
  for (const { resources } of spec?.containers ?? []) addUsage(usage, usageOf(resources?.[member]));
  for (const container of spec?.initContainers ?? []) {
    const own = usageOf(container.resources?.[member]);
    if (isSidecar(container)) {
      addUsage(usage, own);
      addUsage(sidecars, own);
      continue;
    }
    // Resources that only sidecars have can't exceed the sum.
    const withSidecars = [...own].map(([name, amount]) => {
      const beside = sidecars.get(name);
      return [name, beside === undefined ? amount : addQuantities(amount, beside)] as const;
    });
    starting.push(new Map(withSidecars));
  }
  for (const one of starting) raiseUsage(usage, one);
  for (const [name, amount] of usageOf(spec?.resources?.[member])) usage.set(name, amount);
  return usage;
}
