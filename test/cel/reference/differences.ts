import type { Verdict } from "./verdict.ts";

/** A property of a verdict that is compared. */
export type Aspect = keyof Verdict;

export const aspects: readonly Aspect[] = ["definition", "estimates", "objects", "costs"];

/** A difference to the reference that is intended. */
export interface Difference {
  readonly reason: string;
  readonly aspects: readonly Aspect[];
  /** The names of the cases; each has to differ in each aspect. */
  readonly cases: readonly string[];
}

export const differences: readonly Difference[] = [
  {
    reason: "join works for lists of the object too; the reference fails for every such list",
    aspects: ["objects", "costs"],
    cases: ["cost: self.names5.join(',').matches('a')", "cost: self.names5.join().contains('ab')"],
  },
  {
    reason:
      "whole objects are compared; in the reference two objects with the same number of members are equal if an undeclared member is only in one of them",
    aspects: ["objects", "costs"],
    cases: ["equality of open objects: self.l[0] != self.l[1] && self.l.size() == 2"],
  },
  {
    reason: "an object with a null field equals itself; in the reference it equals nothing",
    aspects: ["objects"],
    cases: [
      "equality of nullable fields: self.a == self.a",
      "equality of nullable fields: self.l[0] == self.l[1]",
    ],
  },
  {
    reason: "sets of times are compared; in the reference a set of times equals nothing, not even itself",
    aspects: ["objects"],
    cases: ["equality of sets of times: self.a == self.b"],
  },
  {
    reason: "no environment has message types that an expression could construct",
    aspects: ["definition", "estimates", "objects", "costs"],
    cases: ["names: google.protobuf.Timestamp{seconds: 1} == timestamp(1)"],
  },
  {
    reason: "a rule for values without a declared type is an error of the definition, not an internal error",
    aspects: ["definition"],
    cases: ["rules: at a list of preserved values", "rules: at a preserved value"],
  },
  {
    reason:
      "in the reference the path of a field of an item overwrites the path of another one if the path is long, so it uses the wrong limit",
    aspects: ["definition", "estimates"],
    cases: ["cost of deep lists: self.a.b.c.d.all(x, x.p == x.q)"],
  },
  {
    reason: "the last selection before a missing key is counted; the rule fails in both cases",
    aspects: ["costs"],
    cases: ["depth: 2 selections", "names: has(self.metadata.labels.b)"],
  },
  {
    reason: "iterating over an object doesn't count undeclared members",
    aspects: ["costs"],
    cases: ["equality of open objects: self.l.indexOf(self.l[1]) == 1"],
  },
];

/** Returns an aspect of a verdict as text; estimates above 2^53 are equal. */
export function shownAspect(verdict: Verdict, aspect: Aspect): string {
  if (aspect !== "estimates") return JSON.stringify(verdict[aspect] ?? []);
  return JSON.stringify((verdict.estimates ?? []).map((cost) => (Number(cost) < 2 ** 53 ? cost : "huge")));
}
