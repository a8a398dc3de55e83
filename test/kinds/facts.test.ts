import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { builtInKinds } from "../../src/kinds/all.ts";
import { history, insight, tenancy, transactions } from "../../src/kinds/groups.ts";
import { DeleteOptionsBody } from "../../src/kinds/meta/delete-options.ts";
import { LabelSelector } from "../../src/kinds/meta/label-selector.ts";
import { resolveString } from "../../src/schema/check.ts";
import { groupName, type Kind, type Subresource } from "../../src/schema/kind.ts";
import { ListMeta } from "../../src/schema/object-meta.ts";
import type { Field, StructType } from "../../src/schema/types.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { expressionOf, structsOf } from "./type-expressions.ts";

/** Tables extracted from the reference release; the folder is optional. */
const folder = path.resolve(import.meta.dirname, "../../../shared/facts");

type Row = Readonly<Record<string, string>>;

function table(name: string): Row[] {
  const [head = "", ...lines] = readFileSync(path.join(folder, name), "utf8").trimEnd().split("\n");
  const columns = head.split("\t");
  return lines.map((line) => Object.fromEntries(line.split("\t").map((cell, i) => [columns[i]!, cell])));
}

/** Converts a table row to the facts of a declared field. */
function rowFacts(row: Row) {
  const plain = (name: string) => (row[name] === "-" ? "" : row[name]!);
  return {
    number: plain("proto_number"),
    type: row["type_expr"]!.replaceAll(/[a-z.]+\/v[0-9a-z]+\./g, "").replace("ExtraValue", "list<string>"),
    required: row["required"] === "1",
    listType: plain("list_type"),
    listMapKeys: plain("list_map_keys"),
    mapType: plain("map_or_struct_type"),
    patchStrategy: plain("patch_strategy"),
    patchMergeKey: plain("patch_merge_key"),
    // The table quotes an empty text, and sorts by the names of the reference.
    enumeration: plain("enum").replace('""', "").split(",").toSorted().join(","),
    nullable: row["nullable"] === "1",
    emitEmpty: row["emit_empty"] === "1",
  };
}

function declaredFacts({ type, facts }: Field) {
  const listType = facts.listType ?? "";
  return {
    number: facts.number === undefined ? "" : String(facts.number),
    type: expressionOf(type),
    required: facts.required,
    listType: type.shape === "list" ? listType || "atomic" : "",
    listMapKeys: facts.listMapKeys.join(","),
    mapType: facts.mapType ?? "",
    patchStrategy: facts.patchStrategy.join(","),
    patchMergeKey: facts.patchMergeKey ?? "",
    inside: facts.inside,
    enumeration: (facts.oneOf ?? facts.knownValues ?? [])
      .map((word) => resolveString(word, platform))
      .toSorted()
      .join(","),
    // The zero value of a struct, list or map that is not nullable means absent.
    nullable: facts.nullable,
    emitEmpty: facts.emitEmpty,
  };
}

/** Returns the kind of a subresource in the format of the tables. */
function shownKind(kind: Kind, subresource: Subresource): string {
  if (subresource.shape === undefined) return kind.name;
  if (subresource.shape === "connect") return subresource.optionsKind;
  const shown = subresource.kind();
  const near = shown.group === kind.group && shown.version === kind.version;
  return near ? shown.name : `${groupName(shown.group, platform)}/${shown.version}.${shown.name}`;
}

const typeMeta = new Set(["kind", "apiVersion"]);

/** The kinds that the reference also has. */
const kindsOfReference = builtInKinds.filter(
  ({ group }) => group !== insight && group !== transactions && group !== history && group !== tenancy,
);

describe.skipIf(!existsSync(folder))(
  "declarations and the reference's tables (skipped when they are missing)",
  () => {
    const fields = existsSync(folder) ? table("fields.tsv") : [];
    const types = existsSync(folder) ? table("types.tsv") : [];
    const resources = existsSync(folder) ? table("resources.tsv") : [];

    const rowsOf = new Map<string, Row[]>();
    for (const row of fields) {
      const key = `${row["group"]}/${row["version"]}.${row["type"]}`;
      rowsOf.set(key, [...(rowsOf.get(key) ?? []), row]);
    }
    const flagsOf = new Map(
      types.map((row) => [
        `${row["group"]}/${row["version"]}.${row["type"]}`,
        row["notes_flags"]!.split(";"),
      ]),
    );

    interface FlatRow {
      readonly row: Row;
      readonly inside: readonly number[];
    }

    /** Returns the JSON fields of a type; fields of inlined types have the number of their message. */
    function flatRows(key: string): FlatRow[] {
      return (rowsOf.get(key) ?? []).flatMap((row): FlatRow[] => {
        if (row["inline"] === "0") return [{ row, inside: [] }];
        if (row["proto_number"] === "-") return [];
        const type = row["type_expr"]!;
        const inner = type.includes("/")
          ? type.replace(/^core\//, "/")
          : `${row["group"]}/${row["version"]}.${type}`;
        return flatRows(inner).map((one) => ({
          row: one.row,
          inside: [Number(row["proto_number"]), ...one.inside],
        }));
      });
    }

    function checkStruct(type: StructType): void {
      const group = groupName(type.groupVersion.group, platform);
      const key = `${group}/${type.groupVersion.version}.${type.name}`;
      const rows = flatRows(key);
      const flags = flagsOf.get(key);
      expect(flags, `${key} is in the tables`).toBeDefined();
      expect(type.atomic, `${type.name} is atomic`).toBe(flags!.includes("atomic"));
      const declared = Object.entries(type.fields).filter(
        ([name]) => !(typeMeta.has(name) && rows.every(({ row }) => row["json_name"] !== name)),
      );
      const table = rows.map(({ row, inside }) => [row["json_name"]!, { ...rowFacts(row), inside }] as const);
      expect(Object.fromEntries(declared.map(([name, field]) => [name, declaredFacts(field)])), key).toEqual(
        Object.fromEntries(table),
      );
    }

    it.each(
      kindsOfReference.map(
        (kind) => [`${groupName(kind.group, platform)}/${kind.version} ${kind.name}`, kind] as const,
      ),
    )("%s: every field of every type equals the table", (_name, kind) => {
      for (const type of structsOf(kind.type)) checkStruct(type);
    });

    it.each([ListMeta, LabelSelector, DeleteOptionsBody])("$name: every field equals the table", (type) => {
      checkStruct(type as unknown as StructType);
    });

    it.each(kindsOfReference.map((kind) => [kind.name, kind] as const))(
      "%s: names, verbs and subresources equal the table",
      (_name, kind: Kind) => {
        const row = resources.find(
          (one) =>
            one["group"] === groupName(kind.group, platform) &&
            one["version"] === kind.version &&
            one["kind"] === kind.name,
        )!;
        const subresources = row["subresources"] === "-" ? [] : row["subresources"]!.split(";");
        expect({
          resource: kind.resource,
          singular: kind.singular,
          namespaced: kind.scope === "Namespaced",
          verbs: kind.verbs.toSorted().join(","),
          shortNames: (kind.shortNames ?? []).join(","),
          categories: (kind.categories ?? []).join(","),
          served: kind.servedByDefault,
          subresources: Object.entries(kind.subresources)
            .map(([name, one]) => `${name}:${shownKind(kind, one)}:${one.verbs.join(",")}`)
            .toSorted(),
        }).toEqual({
          resource: row["resource"],
          singular: row["singular"],
          namespaced: row["namespaced"] === "1",
          verbs: row["verbs"]!.split(",").toSorted().join(","),
          shortNames: row["short_names"]!.replace(/^-$/, ""),
          categories: row["categories"]!.replace(/^-$/, ""),
          served: row["served_by_default_in_1_26"] === "1",
          subresources: subresources.toSorted(),
        });
      },
    );

    it("the table columns equal the declared columns", () => {
      const columns = table("columns.tsv");
      for (const kind of kindsOfReference.filter((one) => one.columns !== undefined)) {
        const group = groupName(kind.group, platform);
        const rows = columns.filter((row) => row["group"] === group && row["resource"] === kind.resource);
        const declared = kind.columns!.map(({ name, type, priority }) => [name, type, String(priority ?? 0)]);
        const listed = rows.map((row) => [row["column_name"], row["type"], row["priority"]]);
        // A kind without columns of its own has those of every table.
        const everyTable = [
          ["Name", "string", "0"],
          ["Created At", "date", "0"],
        ];
        expect(declared, kind.name).toEqual(listed.length > 0 ? listed : everyTable);
      }
    });
  },
);
