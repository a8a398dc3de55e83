import { approvalOf } from "../../kinds/apiextensions/definition-rules.ts";
import type { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { approvalCondition } from "../../kinds/apiextensions/custom-resource-definition-status.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { acceptNames } from "./naming.ts";
import type { OtherNames } from "./reserved-names.ts";

type Status = NonNullable<CustomResourceDefinition["status"]>;
type Condition = NonNullable<NonNullable<Status["conditions"]>[number]>;
/** A condition before it is known whether it is new. */
type Wanted = Pick<Condition, "type" | "status" | "reason" | "message">;

/**
 * The status that a definition should have: its names accepted, and the kind served from then on.
 *
 * @param definition its schemas don't matter.
 * @param others names that other definitions of the group have been given.
 * @param now RFC 3339.
 */
export function statusOf(
  definition: CustomResourceDefinition,
  others: OtherNames,
  vocabulary: Vocabulary,
  now: string,
): Status {
  const { accepted, conflict } = acceptNames(definition, others);
  const before = definition.status?.conditions ?? [];
  const named: Wanted =
    conflict === undefined
      ? { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" }
      : { type: "NamesAccepted", status: "False", ...conflict };
  const wasEstablished = before.some(({ type, status }) => type === "Established" && status === "True");
  const established: Wanted =
    conflict === undefined || wasEstablished
      ? {
          type: "Established",
          status: "True",
          reason: "InitialNamesAccepted",
          message: "the initial names have been accepted",
        }
      : {
          type: "Established",
          status: "False",
          reason: "NotAccepted",
          message: "not all names are accepted",
        };
  const wanted = [named, established, ...approval(definition, vocabulary)];
  const kept = before.filter(({ type }) => !wanted.some((one) => one.type === type));
  const conditions = [...wanted.map((one) => transition(one, before, now)), ...kept];
  return { ...definition.status, acceptedNames: accepted, conditions } as Status;
}

function transition(wanted: Wanted, before: readonly Condition[], now: string): Condition {
  const found = before.find(({ type }) => type === wanted.type);
  const lastTransitionTime = found?.status === wanted.status ? found.lastTransitionTime : now;
  return { ...wanted, lastTransitionTime: lastTransitionTime ?? now };
}

const approvals = {
  missing: ["False", "MissingAnnotation"],
  bypassed: ["False", "UnapprovedAnnotation"],
  approved: ["True", "ApprovedAnnotation"],
  invalid: ["False", "InvalidAnnotation"],
} as const;

/** Definitions of protected groups say whether they were approved. */
function approval({ metadata, spec }: CustomResourceDefinition, vocabulary: Vocabulary): Wanted[] {
  const { domain, groupSuffix } = vocabulary;
  const isProtected = [groupSuffix, domain].some(
    (one) => spec.group === one || spec.group.endsWith(`.${one}`),
  );
  if (!isProtected) return [];
  const annotation = `api-approved.${domain}`;
  const word = metadata.annotations?.[annotation] ?? "";
  const [status, reason] = approvals[approvalOf(word)];
  const message =
    word === "" ? `protected groups must have the annotation ${annotation}` : `approved in ${word}`;
  return [{ type: approvalCondition(vocabulary), status, reason, message }];
}
