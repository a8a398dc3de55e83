import { parseFieldSelector } from "../base/selectors/field-selector.ts";
import { parseLabelRequirements } from "../base/selectors/label-selector-parser.ts";
import { StatusError } from "../base/status-error.ts";

/** One condition of a selector. A requirement of a field has the operator `In` or `NotIn`, with one value. */
export interface SelectorRequirement {
  /** Path of the field, or key of the label. */
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  /** Empty for `Exists` and `DoesNotExist`. */
  readonly values: readonly string[];
}

/**
 * Limits a request to the objects that meet all requirements. Requirements that can't be read are dropped: the decision is then about
 * more objects than the client asks for.
 */
export interface RequestSelectors {
  readonly fieldSelector: readonly SelectorRequirement[];
  readonly labelSelector: readonly SelectorRequirement[];
  /** What was dropped, for example `fieldSelector ignored due to parse error`. */
  readonly faults: readonly string[];
}

/** The readable requirements of a selector. */
interface ReadableSelector {
  readonly requirements: readonly SelectorRequirement[];
  /** Whether a requirement, or all of them, were dropped. */
  readonly incomplete: boolean;
}

/** Parameters of a request, in text form; parsed at first use. The requirements are in the order of the reference. */
export class SelectorTexts implements RequestSelectors {
  private fields: ReadableSelector | undefined;
  private labels: ReadableSelector | undefined;

  /** An empty text is no selector. */
  constructor(
    private readonly fieldText: string,
    private readonly labelText: string,
  ) {}

  get fieldSelector(): readonly SelectorRequirement[] {
    return this.readFields().requirements;
  }

  get labelSelector(): readonly SelectorRequirement[] {
    return this.readLabels().requirements;
  }

  get faults(): readonly string[] {
    return selectorFaults(this.readFields(), this.readLabels());
  }

  private readFields(): ReadableSelector {
    return (this.fields ??= parseText(this.fieldText, fieldRequirements));
  }

  private readLabels(): ReadableSelector {
    return (this.labels ??= parseText(this.labelText, labelRequirements));
  }
}

/** Returns the selectors of parameters; undefined if both are empty. */
export function selectorsOfTexts(fieldText: string, labelText: string): RequestSelectors | undefined {
  return fieldText === "" && labelText === "" ? undefined : new SelectorTexts(fieldText, labelText);
}

/** A selector of an access review: either text or requirements. */
export interface ReviewedSelector {
  readonly rawSelector?: string | null | undefined;
  readonly requirements?: readonly ReviewedRequirement[] | null | undefined;
}

/** A requirement of an access review; the operator may be one of a newer client. */
export interface ReviewedRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | null | undefined;
}

/** Converts the selectors of an access review; undefined if it has none. */
export function reviewedSelectors(
  fieldSelector: ReviewedSelector | null | undefined,
  labelSelector: ReviewedSelector | null | undefined,
): RequestSelectors | undefined {
  if (!fieldSelector && !labelSelector) return undefined;
  const fields = readReviewed(fieldSelector, fieldRequirements, isReadableField);
  const labels = readReviewed(labelSelector, labelRequirements, isReadableLabel);
  return {
    fieldSelector: fields.requirements,
    labelSelector: labels.requirements,
    faults: selectorFaults(fields, labels),
  };
}

/** Whether a requirement of the field selector limits the request to objects with this value. */
export function selectsFieldValue(
  selectors: RequestSelectors | undefined,
  field: string,
  value: string,
): boolean {
  return (selectors?.fieldSelector ?? []).some(
    ({ key, operator, values }) =>
      key === field && operator === "In" && values.length === 1 && values[0] === value,
  );
}

function readReviewed(
  selector: ReviewedSelector | null | undefined,
  parse: (text: string) => SelectorRequirement[],
  isReadable: (requirement: ReviewedRequirement) => boolean,
): ReadableSelector {
  const requirements = selector?.requirements ?? [];
  if (requirements.length === 0) return parseText(selector?.rawSelector ?? "", parse);
  const readable = requirements.filter((one) => isReadable(one));
  return {
    requirements: readable.map(({ key, operator, values }) => ({
      key,
      operator: operator as SelectorRequirement["operator"],
      values: values ?? [],
    })),
    incomplete: readable.length < requirements.length,
  };
}

function isReadableField({ operator, values }: ReviewedRequirement): boolean {
  return (operator === "In" || operator === "NotIn") && values?.length === 1;
}

const labelOperators: ReadonlySet<string> = new Set(["In", "NotIn", "Exists", "DoesNotExist"]);

function isReadableLabel({ operator }: ReviewedRequirement): boolean {
  return labelOperators.has(operator);
}

function parseText(text: string, parse: (text: string) => SelectorRequirement[]): ReadableSelector {
  if (text === "") return { requirements: [], incomplete: false };
  try {
    return { requirements: parse(text), incomplete: false };
  } catch (error) {
    if (error instanceof StatusError) return { requirements: [], incomplete: true };
    throw error;
  }
}

function fieldRequirements(text: string): SelectorRequirement[] {
  return parseFieldSelector(text).map(({ field, operator, value }) => ({
    key: field,
    operator: operator === "=" ? "In" : "NotIn",
    values: [value],
  }));
}

/** Comparisons of numbers (`Gt`, `Lt`) are dropped: access reviews have no operator for them. */
function labelRequirements(text: string): SelectorRequirement[] {
  const requirements = parseLabelRequirements(text).flatMap(({ key, operator, values }) =>
    operator === "Gt" || operator === "Lt"
      ? []
      : [{ key, operator, values: [...new Set(values)].toSorted() }],
  );
  return requirements.toSorted((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0));
}

function selectorFaults(fields: ReadableSelector, labels: ReadableSelector): string[] {
  return Object.entries({ fieldSelector: fields, labelSelector: labels }).flatMap(
    ([name, { requirements, incomplete }]) => {
      if (!incomplete) return [];
      return [`${name} ${requirements.length === 0 ? "" : "partially "}ignored due to parse error`];
    },
  );
}
