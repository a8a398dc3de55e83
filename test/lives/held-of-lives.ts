import type { Difference, Held } from "./comparison.ts";

const codes = ({ theirs, ours }: Difference): string => `${theirs.status} ${ours.status}`;
const isStep = (names: RegExp) => (difference: Difference) => names.test(difference.step);

/** Of whole lives: the first one that fits is the reason. Each has to be the reason for something. */
export const heldOfLives: readonly Held[] = [
  {
    because: "malformed input is 400, also where the reference fails with 500",
    when: (difference) => codes(difference) === "500 400",
  },
  {
    because:
      "a patch with an unknown field, or whose result has wrong types, is 400 when it is meant strictly, and a JSON patch that is none is 400",
    when: (difference) =>
      codes(difference) === "422 400" &&
      (difference.theirs.lines.includes("cause: FieldValueInvalid at patch") ||
        difference.step.startsWith("JSON patch")),
  },
  {
    because: "deletecollection answers a Status",
    when: ({ step, ours, missing, more }) =>
      step.startsWith("delete the collection") &&
      ours.lines.includes("success") &&
      ![...missing, ...more].some((line) => line.startsWith("warnings")),
  },
  {
    because: "a conflict, and a JSON patch that can't be applied, name their object",
    when: ({ step, theirs, ours, missing, more }) =>
      theirs.status === ours.status &&
      (ours.status === 409 || step.startsWith("JSON patch")) &&
      missing.length === 0 &&
      more.every((line) => line.startsWith("about ") || line === "cause: undefined at undefined"),
  },
  {
    because: "the reference calls the group of workloads by the name that it had before",
    releases: ["1.26"],
    when: ({ missing, more }) =>
      missing.length === 1 && missing[0]!.replace("group extensions", "group apps") === more.join(),
  },
  {
    because:
      "an object that isn't there has no version to replace; the reference finds that only where it writes",
    when: (difference) =>
      codes(difference) === "201 409" && difference.step === "replace what isn't there at a version",
  },
  {
    because:
      "a version that is none is no version of the object: the write is refused as one that comes too late",
    when: (difference) =>
      codes(difference) === "500 409" && difference.step === "replace at a version that is none",
  },
  {
    because: "null is no object",
    when: ({ step, ours }) => step === "create from null" && ours.status === 400,
  },
  {
    because: "what is applied names its object and namespace: that is looked at before who owns what",
    when: (difference) =>
      codes(difference) === "409 400" &&
      isStep(/^apply (under another name|in another namespace)$/)(difference),
  },
  {
    because:
      "an unknown field that is applied is warned of, as in every other write, and what is wrong beside it is told",
    when: ({ step, theirs }) => step === "apply with an unknown field" && theirs.status === 500,
  },
  {
    because: "nobody fills in selfLink any more, and none stays",
    when: ({ missing, more }) => more.length === 0 && missing.join() === 'metadata.selfLink = "/mine"',
  },
  {
    because: "the column of an event's object says format `name` there, which means nothing",
    when: ({ missing, more }) =>
      missing.join() === "column: Name string name 1" && more.join() === "column: Name string  1",
  },
  {
    because:
      "callers of a deprecated version are warned, also when the verb or the form of their request is refused",
    when: ({ kind, ours, missing, more }) =>
      /v1beta[12]|v1alpha3|^api\/v1\/endpoints$/.test(kind) &&
      ours.status >= 404 &&
      missing.length === 0 &&
      more.join() === "warnings: 1",
  },
  {
    because:
      "storage capacities show their class and size in tables; the reference shows when they were made",
    when: ({ kind, missing }) =>
      kind.endsWith("csistoragecapacities") && missing.includes("column: Created At date  0"),
  },
  {
    because: "a list without items has an empty list of them; the reference gives null for this kind",
    releases: ["1.26"],
    when: ({ kind, more }) =>
      kind.includes("validatingadmissionpolic") && more.some((line) => /^list: .* of 0$/.test(line)),
  },
  {
    because:
      "an object that nobody owned anything of gets owners by the next write; the reference stops to count",
    when: ({ step, missing, more }) =>
      step === "patched after that" &&
      missing.length <= 1 &&
      [...missing, ...more].every((line) => line.startsWith("owner life Update ")),
  },
  {
    because: "an apply that changes nothing writes nothing; the reference writes these kinds once more",
    when: ({ kind, step, missing }) =>
      step === "applied again" &&
      /persistentvolume/.test(kind) &&
      missing.join() === "resourceVersion: another",
  },
  {
    because: "all that is wrong is told at once",
    when: ({ kind, step, missing, more }) =>
      kind === "api/v1/events" && step === "create from {}" && missing.length === 0 && more.length === 1,
  },
  {
    because: "the data of a revision are declared as an object",
    when: ({ kind, step, ours }) =>
      kind.endsWith("controllerrevisions") &&
      step === "create with data of another type" &&
      ours.status === 400,
  },
  {
    because:
      "a status that a write of the whole object drops leaves no trace; the reference takes the annotation of the older version for what was written",
    when: ({ kind, step }) =>
      kind === "apis/autoscaling/v1/horizontalpodautoscalers" &&
      isStepOf(step, ["replace with a status", "status: patched"]),
  },
  {
    because: "a condition that is applied through the status is taken over, as one that is put there",
    releases: ["1.26"],
    when: ({ kind, step, missing, more }) =>
      kind.endsWith("certificatesigningrequests") &&
      step === "status: applied" &&
      missing.length === 0 &&
      more.every((line) => line.startsWith("status")),
  },
  {
    because: "the warnings of a kind are about what is written, and a conflict writes nothing",
    releases: ["1.37"],
    when: ({ kind, ours, missing }) =>
      kind.endsWith("csidrivers") &&
      ours.status === 409 &&
      missing.some((line) => line.startsWith("warnings")),
  },
  {
    because:
      "the data of a revision may be missing in no write; the reference asks for them in new ones only",
    releases: ["1.37"],
    when: ({ kind, missing, more }) =>
      kind.endsWith("controllerrevisions") &&
      missing.length === 0 &&
      more.join() === "cause: FieldValueRequired at data",
  },
  {
    because: "a generated name has its own format too; the reference looks at the name only",
    releases: ["1.37"],
    when: ({ kind, step, more }) =>
      /(replicationcontrollers|deviceclasses)$/.test(kind) &&
      step === "create with a bad generated name" &&
      more.join() === "cause: FieldValueInvalid at metadata.generateName",
  },
  {
    because: "an unknown field that is applied is warned of; the reference fails",
    releases: ["1.37"],
    when: (difference) => codes(difference) === "500 200" && difference.step === "apply a status",
  },
  {
    because: "a generated name is no address: the name is refused, not its prefix",
    releases: ["1.37"],
    when: ({ kind, step, ours }) =>
      kind.endsWith("ipaddresses") &&
      /^create with a (bad )?generated name$/.test(step) &&
      ours.lines.includes("cause: FieldValueInvalid at metadata.name"),
  },
  {
    because: "a row has as many cells as there are columns; the reference adds the age of an address",
    releases: ["1.37"],
    when: ({ kind, missing, more }) =>
      kind.endsWith("ipaddresses") && missing.join() === "cell undefined: AGE" && more.length === 0,
  },
  {
    because: "all rules of finalizers are checked for all kinds",
    releases: ["1.37"],
    when: ({ kind, missing, more }) =>
      kind.endsWith("leasecandidates") &&
      missing.length === 0 &&
      more.join() === "cause: FieldValueInvalid at metadata.finalizers[0]",
  },
];

function isStepOf(step: string, names: readonly string[]): boolean {
  return names.includes(step);
}
