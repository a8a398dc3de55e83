import { expect, test } from "vitest";
import { parseVersion, textOf } from "../../../src/admission/plugins/pod-security/levels.ts";
import { policyLabels, policyOf } from "../../../src/admission/plugins/pod-security/namespace-policy.ts";

const everything = { level: "privileged", minor: Infinity } as const;
const open = { enforce: everything, audit: everything, warn: everything };
const names = policyLabels("p/");

/** Returns the levels of enforce, audit and warn, and then the errors with their fields. */
function read(labels: Record<string, string> | undefined, defaults = open): string[] {
  const prefixed =
    labels && Object.fromEntries(Object.entries(labels).map(([key, value]) => [`p/${key}`, value]));
  const { enforce, audit, warn, faults } = policyOf(prefixed, names, defaults);
  return [
    ...[enforce, audit, warn].map(textOf),
    ...faults.map(({ field, message }) => `${field}: ${message}`),
  ];
}

const all = "privileged:latest";

test.each<[object | undefined, string, string, string]>([
  [undefined, all, all, all],
  [{}, all, all, all],
  [{ other: "restricted" }, all, all, all],
  // The warn level defaults to the enforce level.
  [{ enforce: "baseline" }, "baseline:latest", all, "baseline:latest"],
  [{ enforce: "baseline", "enforce-version": "v1.20" }, "baseline:v1.20", all, "baseline:v1.20"],
  [{ enforce: "baseline", warn: "privileged" }, "baseline:latest", all, all],
  [{ enforce: "baseline", "warn-version": "v1.5" }, "baseline:latest", all, "baseline:v1.5"],
  [{ enforce: "baseline", warn: "restricted" }, "baseline:latest", all, "restricted:latest"],
  [{ audit: "restricted", "audit-version": "v1.0" }, all, "restricted:v1.0", all],
  [{ warn: "restricted", "warn-version": "v1.26" }, all, all, "restricted:v1.26"],
  [{ "enforce-version": "v1.3" }, "privileged:v1.3", all, all],
])("labels %j: enforce %s, audit %s, warn %s", (labels, ...levels) => {
  expect(read(labels as Record<string, string>)).toEqual(levels);
});

test("defaults apply when labels are missing", () => {
  const level = (name: "baseline" | "restricted", minor: number) => ({ level: name, minor });
  const defaults = {
    enforce: level("baseline", 20),
    audit: level("restricted", 21),
    warn: level("restricted", 22),
  };
  expect(read(undefined, defaults as never)).toEqual([
    "baseline:v1.20",
    "restricted:v1.21",
    "restricted:v1.22",
  ]);
  expect(read({ enforce: "restricted", "audit-version": "latest" }, defaults as never)).toEqual([
    "restricted:v1.20",
    "restricted:latest",
    "restricted:v1.22",
  ]);
});

test("an invalid enforce level becomes restricted, invalid audit and warn levels become privileged, and an invalid version becomes latest", () => {
  expect(read({ enforce: "strict", audit: "x", warn: "" })).toEqual([
    "restricted:latest",
    all,
    all,
    'metadata.labels[p/enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted',
    'metadata.labels[p/audit]: Invalid value: "x": must be one of privileged, baseline, restricted',
    'metadata.labels[p/warn]: Invalid value: "": must be one of privileged, baseline, restricted',
  ]);
  expect(read({ enforce: "baseline", "enforce-version": "1.20" })).toEqual([
    "baseline:latest",
    all,
    "baseline:latest",
    'metadata.labels[p/enforce-version]: Invalid value: "1.20": must be "latest" or "v1.x"',
  ]);
});

test.each(["", "v1", "v1.", "v1.01", "v1.-1", "v2.0", "v1.2.3", "Latest", "v1.99999999999999999999"])(
  "%j is not a valid version",
  (text) => expect(parseVersion(text)).toBeUndefined(),
);
