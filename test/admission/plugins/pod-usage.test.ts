import { expect, test } from "vitest";
import { cpuStopwatch } from "../../support/cpu-time.ts";
import { formatQuantity } from "../../../src/base/quantity.ts";
import { podUsage } from "../../../src/kinds/core/pod/pod-usage.ts";

const container = (requests: Record<string, string>, restartPolicy?: string) => ({
  ...(restartPolicy !== undefined && { restartPolicy }),
  resources: { requests },
});
const usageOf = (spec: Parameters<typeof podUsage>[0]) =>
  Object.fromEntries([...podUsage(spec, "requests")].map(([name, amount]) => [name, formatQuantity(amount)]));

test("the usage of a pod is the sum of containers and sidecars, or the largest init container with the sidecars before it", () => {
  const containers = [container({ cpu: "1" })];
  const sidecar = container({ cpu: "1", memory: "1Gi" }, "Always");
  const init = container({ cpu: "2500m", storage: "1" });
  expect(usageOf({ containers, initContainers: [sidecar, init] })).toEqual({
    cpu: "3500m",
    memory: "1Gi",
    storage: "1",
  });
  expect(usageOf({ containers, initContainers: [init, sidecar] })).toEqual({
    cpu: "2500m",
    memory: "1Gi",
    storage: "1",
  });
  expect(usageOf({ containers, initContainers: [sidecar, container({ cpu: "100m" })] })).toEqual({
    cpu: "2",
    memory: "1Gi",
  });
  expect(usageOf({ containers, resources: { requests: { cpu: "7" } } })).toEqual({ cpu: "7" });
});

test("the usage of a pod takes linear time for init containers with resources of their own", () => {
  const measure = (count: number): number => {
    const initContainers = Array.from({ length: count }, (_, index) => [
      container({ [`example.com/a${index}`]: "1" }, "Always"),
      container({ [`example.com/b${index}`]: "1" }),
    ]).flat();
    const usedMs = cpuStopwatch();
    expect(podUsage({ initContainers }, "requests").size).toBe(2 * count);
    return usedMs();
  };
  measure(2_000);
  // Quadratic time would be thousands of times as much: 20,000 copies of up to 20,000 amounts.
  expect(measure(20_000)).toBeLessThan(2_000);
});
