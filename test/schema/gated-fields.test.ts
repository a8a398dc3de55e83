import { describe, expect, it } from "vitest";
import { dropDisabledFields } from "../../src/schema/gates.ts";
import { Pod } from "../../src/kinds/core/pod/pod.ts";

const withProcMount = (procMount: string | null | undefined) => ({
  spec: { containers: [{ name: "c", securityContext: { procMount } }] },
});

function afterWrite(given: string | null | undefined, live?: string, gates: readonly string[] = []) {
  const value = withProcMount(given);
  const before = live === undefined ? undefined : withProcMount(live);
  dropDisabledFields(Pod.type, value, before, (gate) => gates.includes(gate));
  return value.spec.containers[0]?.securityContext.procMount;
}

describe("procMount while its feature gate is off", () => {
  it.each<[string, string | null | undefined, string | undefined, string | null | undefined]>([
    ["is set to Default if it has another value", "Unmasked", undefined, "Default"],
    ["stays Default", "Default", undefined, "Default"],
    ["stays absent", undefined, undefined, undefined],
    ["stays null", null, undefined, null],
    ["is kept if the live pod has the same value", "Unmasked", "Unmasked", "Unmasked"],
    ["is set to Default if the live pod has Default", "Unmasked", "Default", "Default"],
  ])("%s", (_name, given, live, expected) => {
    expect(afterWrite(given, live)).toBe(expected);
  });

  it("is kept if its feature gate is on", () => {
    expect(afterWrite("Unmasked", undefined, ["ProcMountType"])).toBe("Unmasked");
  });
});
