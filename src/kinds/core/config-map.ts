import { kind } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, bytes, field, map, string } from "../../schema/types.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { configMapKeyFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";

/** Maximum total size of the values of a ConfigMap or Secret, in bytes. */
export const maxDataBytes = 1024 * 1024;

/** Checks the keys of some maps, and that no key is in two of them. */
export function checkDataKeys(
  maps: Readonly<Record<string, Record<string, string> | undefined>>,
  report: FieldReport,
): void {
  const before: [string, Record<string, string>][] = [];
  for (const name in maps) {
    const data = maps[name];
    if (data === undefined) continue;
    for (const key in data) {
      for (const message of configMapKeyFaults(key)) report.at(name).key(key).invalid(key, message);
      // Reported in the first map, as in the reference.
      const other = before.find(([, others]) => Object.hasOwn(others, key));
      if (other !== undefined)
        report.at(other[0]).key(key).invalid(key, `duplicate of key present in ${name}`);
    }
    before.push([name, data]);
  }
}

/** Returns the number of bytes that base64 text encodes. */
export function decodedBytes(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}

/** Rejects changes of data that is declared immutable. */
export function checkImmutable(
  live: { readonly immutable?: boolean | undefined },
  now: { readonly immutable?: boolean | undefined },
  parts: readonly (readonly [name: string, live: unknown, now: unknown])[],
  report: FieldReport,
): void {
  if (live.immutable !== true) return;
  if (now.immutable !== true) report.at("immutable").forbidden("field is immutable when `immutable` is set");
  for (const [name, before, after] of parts) {
    if (JSON.stringify(sorted(before)) !== JSON.stringify(sorted(after))) {
      report.at(name).forbidden("field is immutable when `immutable` is set");
    }
  }
}

function sorted(map: unknown): unknown {
  return Object.entries((map as Record<string, unknown> | undefined) ?? {}).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
}

export const ConfigMap = kind({
  name: "ConfigMap",
  resource: "configmaps",
  singular: "configmap",
  shortNames: ["cm"],
  scope: "Namespaced",
  doc: "Configuration data as keys and values.",
  effect: {
    acts: "the controller `bootstrapsigner` signs `cluster-info`; `root-ca-cert-publisher` keeps the server's authority in one of each namespace",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the ConfigMap.").emitEmpty(),
    data: field(2, map(string), "Values in UTF-8, by key."),
    binaryData: field(3, map(bytes), "Values that are not UTF-8, by key; keys in `data` are not allowed."),
    immutable: field(
      4,
      bool,
      "Whether the data is immutable; once true, only the deletion of the object is possible.",
    ).nullable(),
  },
  validate(configMap, report) {
    checkDataKeys({ data: configMap.data, binaryData: configMap.binaryData }, report);
    let size = 0;
    for (const text of Object.values(configMap.data ?? {})) size += Buffer.byteLength(text);
    for (const text of Object.values(configMap.binaryData ?? {})) size += decodedBytes(text);
    if (size > maxDataBytes) report.tooLong(maxDataBytes);
  },
  validateUpdate(configMap, live, report) {
    checkImmutable(
      live,
      configMap,
      [
        ["data", live.data, configMap.data],
        ["binaryData", live.binaryData, configMap.binaryData],
      ],
      report,
    );
  },
  columns: [
    nameColumn,
    {
      name: "Data",
      type: "string",
      doc: "Number of keys in `data` and `binaryData`.",
      cell: (configMap) =>
        // As in the reference, a number although the column has the type string.
        Object.keys(configMap.data ?? {}).length + Object.keys(configMap.binaryData ?? {}).length,
    },
    ageColumn,
  ],
});
export type ConfigMap = ObjectFor<typeof ConfigMap>;
