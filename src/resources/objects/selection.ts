import {
  parseFieldSelector,
  pinnedValue,
  type FieldRequirement,
} from "../../base/selectors/field-selector.ts";
import {
  compileRequirements,
  parseLabelRequirements,
  type LabelMatcher,
  type LabelRequirement,
} from "../../base/selectors/label-selector.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Entry } from "../../storage/store.ts";
import { namesOf, type Resource } from "../registry/registry.ts";
import { asBuffer, headerOf, type Header, decodeEntry } from "./stored.ts";
import type { Kind } from "../../schema/kind.ts";

/** The objects of a collection that a request selects. */
export interface Selection {
  /** Whether it selects all objects, so that no header needs to be read. */
  readonly everything: boolean;
  /** The only name that it can select, if it has one. */
  readonly name: string | undefined;
  /** Selections with equal texts select the same objects. */
  readonly text: string;
  /** Necessary conditions, for indexes: every selected object matches all terms, but an object that matches them may not be selected. */
  readonly terms: readonly SelectionTerm[];
  /** The shard selector of a selection that is limited to shards. */
  readonly shard?: string | undefined;
  /** @param read returns the header of an entry, if the caller caches headers. */
  matches(entry: Entry, read?: HeaderReader): boolean;
}

/** A condition on a label, a selectable field or the name of objects. */
export interface SelectionTerm {
  readonly of: "labels" | "fields" | "names";
  /** Name in the header; `metadata.name` for names. */
  readonly name: string;
  /** Allowed values; undefined matches any. */
  readonly values: readonly string[] | undefined;
}

export type HeaderReader = (entry: Entry) => Header;

export const everything: Selection = {
  everything: true,
  name: undefined,
  text: "",
  terms: [],
  matches: () => true,
};

/**
 * Parses `labelSelector` and `fieldSelector`.
 *
 * @throws {StatusError} BadRequest for a malformed selector or an unsupported field.
 */
export function parseSelection(resource: Resource, labels: string, fields: string): Selection {
  if (labels === "" && fields === "") return everything;
  const byLabel = labels === "" ? [] : parseLabelRequirements(labels);
  const byField = fields === "" ? [] : parseFieldSelector(fields);
  for (const { field } of byField) checkSelectable(resource, field);
  if (byLabel.length === 0 && byField.length === 0) return everything;
  return new HeaderSelection(resource, byLabel, byField, JSON.stringify([labels, fields]));
}

function checkSelectable(resource: Resource, field: string): void {
  if (field === "metadata.name" || Object.hasOwn(resource.kind.selectable, field)) return;
  if (field === "metadata.namespace" && selectsByNamespace(resource)) return;
  throw new StatusError("BadRequest", `field label not supported: ${field}`);
}

/**
 * Whether `metadata.namespace` is selectable. As in the reference, it is also for cluster-scoped built-in kinds that declare no
 * selectable fields; there it is empty.
 */
function selectsByNamespace({ namespaced, kind }: Resource): boolean {
  return namespaced || (kind.custom === undefined && Object.keys(kind.selectable).length === 0);
}

class HeaderSelection implements Selection {
  readonly everything = false;
  readonly name: string | undefined;
  readonly terms: readonly SelectionTerm[];
  private readonly labels: LabelMatcher | undefined;
  /** Bytes that the header of every selected entry contains. */
  private readonly needles: readonly Buffer[];

  constructor(
    private readonly resource: Resource,
    labels: readonly LabelRequirement[],
    private readonly fields: readonly FieldRequirement[],
    readonly text: string,
  ) {
    this.name = pinnedValue(fields, "metadata.name");
    this.labels = labels.length === 0 ? undefined : compileRequirements(labels);
    this.terms = [...fields.flatMap((one) => this.fieldTerm(one)), ...labels.flatMap(labelTerm)];
    this.needles = [...labels.flatMap(labelNeedle), ...fields.flatMap((one) => this.fieldNeedle(one))];
  }

  matches(entry: Entry, read?: HeaderReader): boolean {
    if (read !== undefined) return this.matchesHeader(entry, read);
    // Rules out most entries without parsing their headers.
    for (const needle of this.needles) if (!asBuffer(entry.header).includes(needle)) return false;
    return this.matchesHeader(entry, headerOf);
  }

  private matchesHeader(entry: Entry, read: HeaderReader): boolean {
    let header: Header | undefined;
    if (this.fields.length > 0) {
      const names = namesOf(entry.key);
      for (const { field, operator, value } of this.fields) {
        let actual: string;
        if (field === "metadata.name") actual = names.name;
        else if (field === "metadata.namespace") actual = names.namespace;
        else actual = selectableValue(this.resource, entry, field, (header ??= read(entry)));
        if ((actual === value) !== (operator === "=")) return false;
      }
    }
    if (this.labels === undefined) return true;
    return this.labels((header ?? read(entry)).labels);
  }

  /**
   * The bytes of a required field; none for fields that are in the key or may be absent from headers ({@link isInHeaders}).
   */
  private fieldNeedle({ field, operator, value }: FieldRequirement): Buffer[] {
    if (operator !== "=" || value === "" || field === "metadata.name") return [];
    if (field === "metadata.namespace" || !isInHeaders(this.resource.kind, field)) return [];
    return [memberNeedle(this.storedName(field), value)];
  }

  /** The term of a required field; none for the namespace, which is a part of the key, and for fields that headers may lack. */
  private fieldTerm({ field, operator, value }: FieldRequirement): SelectionTerm[] {
    if (operator !== "=" || field === "metadata.namespace") return [];
    if (field === "metadata.name") return [{ of: "names", name: field, values: [value] }];
    if (!isInHeaders(this.resource.kind, field)) return [];
    return [{ of: "fields", name: this.storedName(field), values: [value] }];
  }

  private storedName(field: string): string {
    return this.resource.kind.conversion?.selectableNames?.[field] ?? field;
  }
}

function labelTerm({ key, operator, values }: LabelRequirement): SelectionTerm[] {
  switch (operator) {
    case "In":
      return [{ of: "labels", name: key, values }];
    case "Exists":
    case "Gt":
    case "Lt":
      return [{ of: "labels", name: key, values: undefined }];
    case "NotIn":
    case "DoesNotExist":
      return [];
  }
}

function labelNeedle({ key, operator, values }: LabelRequirement): Buffer[] {
  if (operator === "In" && values.length === 1) return [memberNeedle(key, values[0]!)];
  return operator === "Exists" ? [Buffer.from(`${JSON.stringify(key)}:`)] : [];
}

/** The bytes of a member in headers. */
function memberNeedle(name: string, value: string): Buffer {
  return Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
}

/** Whether the headers of all objects of a kind have a selectable field, so that their bytes and indexes can be searched for it. */
function isInHeaders({ custom, laterSelectable }: Kind, field: string): boolean {
  return custom === undefined && laterSelectable?.has(field) !== true;
}

/**
 * Returns the value of a selectable field of an object; empty if it has none. The header has it unless the kind got the field after the
 * object was written; then the object is decoded.
 *
 * @param field name of the field in the version of the resource type.
 */
export function selectableValue({ kind }: Resource, entry: Entry, field: string, header: Header): string {
  const name = kind.conversion?.selectableNames?.[field] ?? field;
  if (isInHeaders(kind, field) || Object.hasOwn(header.fields, name)) return header.fields[name] ?? "";
  return kind.selectable[field]!(decodeEntry(entry));
}
