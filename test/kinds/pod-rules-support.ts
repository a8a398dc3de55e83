import { expect, it } from "vitest";
import { Pod } from "../../src/kinds/core/pod/pod.ts";
import { type Part } from "./pod-support.ts";
import { judgeNew } from "./support.ts";

type Case = readonly [title: string, pod: Part, faults: readonly string[]];

/** Declares one test per case: the validation of a create of `pod` reports `faults`. */
export function check(cases: readonly Case[], gates: readonly string[] = []): void {
  it.each(cases)("%s", (_title, pod, faults) => {
    const found = judgeNew(Pod, pod, { gates }).faults;
    expect(found.map((fault) => fault.replace("FieldValue", ""))).toEqual(faults);
  });
}

export const c = "spec.containers[0]";
