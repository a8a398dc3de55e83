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
    because: "a bound pod gets the valid labels of its binding only",
    releases: ["1.37"],
    when: ({ kind, missing, more }) =>
      kind.startsWith("binding") && more.length === 0 && missing.join() === 'metadata.labels.a b = "c"',
  },
];
