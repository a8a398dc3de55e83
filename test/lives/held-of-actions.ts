import type { Difference, Held } from "./comparison.ts";

const codes = ({ theirs, ours }: Difference): string => `${theirs.status} ${ours.status}`;

/** Of actions and questions: the first one that fits is the reason. Each has to be the reason for something. */
export const heldOfActions: readonly Held[] = [
  {
    because: "a fault of the body is told as one, also where the reference fails with 500",
    when: (difference) => /^500 4\d\d$/.test(codes(difference)),
  },
  {
    because: "what has to be given and isn't is required",
    when: ({ kind, missing, more }) =>
      kind.includes("reviews") &&
      missing.length > 0 &&
      missing
        .filter((line) => !line.endsWith("spec.resourceAttributes.namespace"))
        .every((line) => more.includes(line.replace("FieldValueInvalid", "FieldValueRequired"))),
  },
  {
    because: "a local review that names no namespace is about that of its path",
    when: ({ kind, missing }) =>
      kind === "local access reviews" &&
      missing.some((line) => line.endsWith("spec.resourceAttributes.namespace")),
  },
  {
    because: "a review of rules without a namespace names the field",
    when: (difference) => difference.kind === "rules reviews" && codes(difference) === "400 422",
  },
  {
    because: "which rule comes first says nothing",
    when: ({ kind, missing, more }) =>
      kind === "rules reviews" && [...missing, ...more].every((line) => line.startsWith("status.")),
  },
  {
    because: "a review without attributes names the members of which one is needed, as in release 1.26",
    releases: ["1.37"],
    when: ({ kind, missing }) =>
      kind.endsWith("access reviews") && missing.includes("cause: FieldValueInvalid at spec"),
  },
  {
    because: "a token is no object, so it has no uid",
    releases: ["1.37"],
    when: ({ kind, missing, more }) =>
      kind === "tokens" && missing.length === 0 && more.join() === "metadata.uid is gone",
  },
  {
    because: "a pod that is bound has another spec, and so another generation; its labels are valid",
    releases: ["1.37"],
    when: ({ kind, more }) => kind.startsWith("binding") && more.includes("metadata.generation = 2"),
  },
];
