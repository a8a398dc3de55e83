import { subdomain } from "../../vocabulary/names.ts";
import { applies, since } from "../../base/release-rows.ts";
import type { Release } from "../../base/releases.ts";
import { hasInvalidCaBundle } from "../../kinds/apiextensions/conversion-trust.ts";
import { approvalOf } from "../../kinds/apiextensions/definition-rules.ts";
import type { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { approvalCondition } from "../../kinds/apiextensions/custom-resource-definition-status.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { OtherNames, AcceptedNames } from "./reserved-names.ts";

const checksCaBundle = applies(since("1.31"));

type Status = NonNullable<CustomResourceDefinition["status"]>;
type Condition = NonNullable<NonNullable<Status["conditions"]>[number]>;
/** A condition without its transition time. */
type DesiredCondition = Pick<Condition, "type" | "status" | "reason" | "message">;

/**
 * The desired status of a definition: its accepted names and conditions.
 *
 * @param definition may be without schemas.
 * @param others the accepted names of the other definitions of the group.
 * @param release the release that the server follows; from 1.31 on a webhook needs valid authorities.
 * @param now the current time, RFC 3339.
 */
export function statusOf(
  definition: CustomResourceDefinition,
  others: OtherNames,
  { vocabulary, release }: { readonly vocabulary: Vocabulary; readonly release: Release },
  now: string,
): Status {
  const { accepted, conflict } = acceptNames(definition, others);
  const before = definition.status?.conditions ?? [];
  const named: DesiredCondition =
    conflict === undefined
      ? { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" }
      : { type: "NamesAccepted", status: "False", ...conflict };
  const wasEstablished = before.some(({ type, status }) => type === "Established" && status === "True");
  const isUntrusted = () => checksCaBundle({ release }) && hasInvalidCaBundle(definition.spec.conversion);
  const state = wasEstablished
    ? "established"
    : conflict !== undefined
      ? "notAccepted"
      : isUntrusted()
        ? "untrusted"
        : "established";
  const established: DesiredCondition = { type: "Established", ...states[state] };
  const desired = [named, established, ...approval(definition, vocabulary)];
  const further = before.filter(({ type }) => !desired.some((one) => one.type === type));
  const conditions = [...desired.map((one) => transition(one, before, now)), ...further];
  return { ...definition.status, acceptedNames: accepted, conditions } as Status;
}

/** The states of the condition `Established`. */
const states = {
  established: {
    status: "True",
    reason: "InitialNamesAccepted",
    message: "the initial names have been accepted",
  },
  notAccepted: { status: "False", reason: "NotAccepted", message: "not all names are accepted" },
  untrusted: {
    status: "False",
    reason: "InvalidCABundle",
    message: "The caBundle of the conversion webhook has no valid certificate",
  },
} as const;

/** Adds the transition time: that of the existing condition if the status is the same. */
function transition(desired: DesiredCondition, before: readonly Condition[], now: string): Condition {
  const existing = before.find(({ type }) => type === desired.type);
  const lastTransitionTime = existing?.status === desired.status ? existing.lastTransitionTime : now;
  return { ...desired, lastTransitionTime: lastTransitionTime ?? now };
}

const approvals = {
  missing: ["False", "MissingAnnotation"],
  bypassed: ["False", "UnapprovedAnnotation"],
  approved: ["True", "ApprovedAnnotation"],
  invalid: ["False", "InvalidAnnotation"],
} as const;

/** The condition of approval, for definitions of protected groups. */
function approval({ metadata, spec }: CustomResourceDefinition, vocabulary: Vocabulary): DesiredCondition[] {
  const { domain, groupSuffix } = vocabulary;
  const isProtected = [groupSuffix, domain].some(
    (one) => spec.group === one || spec.group.endsWith(`.${one}`),
  );
  if (!isProtected) return [];
  const annotation = subdomain(domain, "api-approved");
  const value = metadata.annotations?.[annotation] ?? "";
  const [status, reason] = approvals[approvalOf(value)];
  const message =
    value === "" ? `protected groups must have the annotation ${annotation}` : `approved in ${value}`;
  return [{ type: approvalCondition(vocabulary), status, reason, message }];
}

/** The accepted names of a definition, and the reason why others are not accepted. */
interface Naming {
  readonly accepted: AcceptedNames;
  /** The last conflict; undefined if all names are accepted. */
  readonly conflict: { readonly reason: string; readonly message: string } | undefined;
}

/**
 * Accepts the names of a definition that no other definition of its group has. A name with a conflict doesn't replace the accepted one.
 *
 * @param others the accepted names of the other definitions of the group.
 */
function acceptNames({ spec, status }: CustomResourceDefinition, others: OtherNames): Naming {
  const { names } = spec;
  const before = status?.acceptedNames;
  const accepted: Record<string, unknown> = { plural: "", kind: "", ...before };
  let conflict: Naming["conflict"];
  const accept = (member: keyof AcceptedNames, reason: string, used: string | undefined): void => {
    if (used !== undefined) {
      conflict = { reason, message: `${JSON.stringify(used)} is already in use` };
    } else if (names[member] === undefined) delete accepted[member];
    else accepted[member] = names[member];
  };
  const resource = (name = ""): string | undefined =>
    name !== "" && others.hasResource(name) ? name : undefined;
  const kind = (name = ""): string | undefined => (name !== "" && others.hasKind(name) ? name : undefined);
  accept("plural", "PluralConflict", resource(names.plural));
  accept("singular", "SingularConflict", resource(names.singular));
  accept(
    "shortNames",
    "ShortNamesConflict",
    names.shortNames?.find((name) => others.hasResource(name)),
  );
  accept("kind", "KindConflict", kind(names.kind));
  accept("listKind", "ListKindConflict", kind(names.listKind));
  accept("categories", "", undefined);
  return { accepted: accepted as AcceptedNames, conflict };
}
