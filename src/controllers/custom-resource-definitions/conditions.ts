import { approvalOf } from "../../kinds/apiextensions/definition-rules.ts";
import type { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { approvalCondition } from "../../kinds/apiextensions/custom-resource-definition-status.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { acceptNames } from "./naming.ts";
import type { OtherNames } from "./taken-names.ts";

type Status = NonNullable<CustomResourceDefinition["status"]>;
type Condition = NonNullable<NonNullable<Status["conditions"]>[number]>;
/** A desired condition, without its time of transition. */
type DesiredCondition = Pick<Condition, "type" | "status" | "reason" | "message">;

/**
 * Returns the desired status of a definition: its accepted names, and its conditions.
 *
 * @param definition a definition; its schemas may be missing.
 * @param others the accepted names of other definitions of the group.
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
  const named: DesiredCondition =
    conflict === undefined
      ? { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" }
      : { type: "NamesAccepted", status: "False", ...conflict };
  const wasEstablished = before.some(({ type, status }) => type === "Established" && status === "True");
  const established: DesiredCondition =
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
  const desired = [named, established, ...approval(definition, vocabulary)];
  const otherConditions = before.filter(({ type }) => !desired.some((one) => one.type === type));
  const conditions = [...desired.map((one) => transition(one, before, now)), ...otherConditions];
  return { ...definition.status, acceptedNames: accepted, conditions } as Status;
}

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

/** Returns the condition of approval, which definitions of protected groups have. */
function approval({ metadata, spec }: CustomResourceDefinition, vocabulary: Vocabulary): DesiredCondition[] {
  const { domain, groupSuffix } = vocabulary;
  const isProtected = [groupSuffix, domain].some(
    (one) => spec.group === one || spec.group.endsWith(`.${one}`),
  );
  if (!isProtected) return [];
  const annotation = `api-approved.${domain}`;
  const approvalText = metadata.annotations?.[annotation] ?? "";
  const [status, reason] = approvals[approvalOf(approvalText)];
  const message =
    approvalText === ""
      ? `protected groups must have the annotation ${annotation}`
      : `approved in ${approvalText}`;
  return [{ type: approvalCondition(vocabulary), status, reason, message }];
}
