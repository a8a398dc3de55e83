import { parseFieldSelector, pinnedValue, type FieldRequirement } from "../../base/field-selector.ts";
import {
  compileRequirements,
  parseLabelRequirements,
  type LabelMatcher,
  type LabelRequirement,
} from "../../base/label-selector.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Entry } from "../../storage/store.ts";
import { namesOf, type Resource } from "../registry/registry.ts";
import { asBuffer, headerOf, type Header } from "./stored.ts";

/** Which objects of a collection a request is about. */
export interface Selection {
  /** Whether it selects everything, so that no header needs to be read. */
  readonly everything: boolean;
  /** The one name it is limited to, if it is. */
  readonly name: string | undefined;
  /** Two selections with the same text choose the same objects. */
  readonly text: string;
  /** What every selected object has, as far as an index can find it by that; it may select less. */
  readonly terms: readonly SelectionTerm[];
  /** @param read reads an entry's header, where that was done before. */
  matches(entry: Entry, read?: HeaderReader): boolean;
}

/** A label, a selectable field or the name that selected objects have. */
export interface SelectionTerm {
  readonly of: "labels" | "fields" | "names";
  /** As the header has it; for names `metadata.name`. */
  readonly name: string;
  /** One of these; any where they are undefined. */
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
 * Reads `labelSelector` and `fieldSelector`.
 *
 * @throws {StatusError} BadRequest for a malformed selector, or a field that the kind doesn't select by.
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
 * Objects of a namespace can be chosen by it; others too, whose namespace is empty, unless their kind names the fields that it
 * is chosen by, or is a custom one.
 */
function selectsByNamespace({ namespaced, kind }: Resource): boolean {
  return namespaced || (kind.custom === undefined && Object.keys(kind.selectable).length === 0);
}

class HeaderSelection implements Selection {
  readonly everything = false;
  readonly name: string | undefined;
  readonly terms: readonly SelectionTerm[];
  private readonly labels: LabelMatcher | undefined;
  /** What the header of every selected entry has. */
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
    if (read !== undefined) return this.fulfils(entry, read);
    // Of most entries the header needn't be taken apart to see that they aren't meant.
    for (const needle of this.needles) if (!asBuffer(entry.header).includes(needle)) return false;
    return this.fulfils(entry, headerOf);
  }

  private fulfils(entry: Entry, read: HeaderReader): boolean {
    let header: Header | undefined;
    if (this.fields.length > 0) {
      const names = namesOf(entry.key);
      for (const { field, operator, value } of this.fields) {
        let actual: string;
        if (field === "metadata.name") actual = names.name;
        else if (field === "metadata.namespace") actual = names.namespace;
        else actual = (header ??= read(entry)).fields[this.storedName(field)] ?? "";
        if ((actual === value) !== (operator === "=")) return false;
      }
    }
    if (this.labels === undefined) return true;
    return this.labels((header ?? read(entry)).labels);
  }

  /** Fields that are in the key have none, nor has one that may be absent. */
  private fieldNeedle({ field, operator, value }: FieldRequirement): Buffer[] {
    if (operator !== "=" || value === "" || field === "metadata.name") return [];
    if (field === "metadata.namespace") return [];
    return [memberNeedle(this.storedName(field), value)];
  }

  /** The namespace is a part of keys, and isn't looked up. */
  private fieldTerm({ field, operator, value }: FieldRequirement): SelectionTerm[] {
    if (operator !== "=" || field === "metadata.namespace") return [];
    if (field === "metadata.name") return [{ of: "names", name: field, values: [value] }];
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

/** A member as headers have it. */
function memberNeedle(name: string, value: string): Buffer {
  return Buffer.from(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
}
