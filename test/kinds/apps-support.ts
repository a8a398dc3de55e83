import { expect, it } from "vitest";
import type { Kind } from "../../src/schema/kind.ts";
import { container, template, type Part } from "./pod-support.ts";
import { judgeNew, judgeUpdate } from "./support.ts";

export const selector = { matchLabels: { app: "web" } };

/** The spec of a minimal object of each kind except ReplicationController. */
export const smallest = { selector, template };
export const withSpec = (part: Part): Part => ({ spec: { ...smallest, ...part } });
export const withPods = (spec: Part): Part =>
  withSpec({ template: { ...template, spec: { containers: [container], ...spec } } });
const short = (faults: readonly string[]) => faults.map((fault) => fault.replace("FieldValue", ""));

export function validateCreates(
  kind: Kind,
  cases: readonly (readonly [string, Part, readonly string[]])[],
  gates: readonly string[] = [],
) {
  it.each(cases)("%s", (_title, given, faults) => {
    expect(short(judgeNew(kind, given, { gates }).faults)).toEqual(faults);
  });
}

export function validateUpdates(
  kind: Kind,
  cases: readonly (readonly [title: string, before: Part, now: Part, faults: readonly string[]])[],
  subresource?: string,
) {
  it.each(cases)("on update, %s", (_title, before, now, faults) => {
    const options = subresource === undefined ? {} : { subresource };
    const subject = subresource === undefined ? kind : { ...kind, prepareCreate: undefined };
    expect(short(judgeUpdate(subject, before, now, options).faults)).toEqual(faults);
  });
}

export const statusOf = (status: Part): Part => ({ ...withSpec({}), status });
