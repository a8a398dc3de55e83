import type { Verdict } from "./verdict.ts";

/** What a verdict is compared by. */
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
      "whole objects are compared; to the reference two objects of as many members are equal where an unknown one is in one of them only",
    aspects: ["objects", "costs"],
    cases: ["equality of open objects: self.l[0] != self.l[1] && self.l.size() == 2"],
  },
  {
    reason: "an object with a field that is null equals itself; to the reference it equals nothing",
    aspects: ["objects"],
    cases: [
      "equality of nullable fields: self.a == self.a",
      "equality of nullable fields: self.l[0] == self.l[1]",
    ],
  },
  {
    reason: "sets of times are compared; to the reference a set of times equals nothing, not even itself",
    aspects: ["objects"],
    cases: ["equality of sets of times: self.a == self.b"],
  },
  {
    reason: "no environment has types of which an expression could make objects",
    aspects: ["definition", "estimates", "objects", "costs"],
    cases: ["names: google.protobuf.Timestamp{seconds: 1} == timestamp(1)"],
  },
  {
    reason: "a rule about values of no declared type is an error of the definition, not an internal one",
    aspects: ["definition"],
    cases: ["rules: at a list of preserved values", "rules: at a preserved value"],
  },
  {
    reason:
      "the reference overwrites the path of one field of an item with that of the next one where the path is long, and so takes the wrong limit",
    aspects: ["definition", "estimates"],
    cases: ["cost of deep lists: self.a.b.c.d.all(x, x.p == x.q)"],
  },
  {
    reason: "the last selection before a missing key is counted; the rule fails either way",
    aspects: ["costs"],
    cases: ["depth: 2 selections", "names: has(self.metadata.labels.b)"],
  },
  {
    reason: "going through an object doesn't count members that the schema doesn't have",
    aspects: ["costs"],
    cases: ["equality of open objects: self.l.indexOf(self.l[1]) == 1"],
  },
];

/** What a verdict says about an aspect, as text; estimates beyond 2^53 aren't told apart. */
export function shownAspect(verdict: Verdict, aspect: Aspect): string {
  if (aspect !== "estimates") return JSON.stringify(verdict[aspect] ?? []);
  return JSON.stringify((verdict.estimates ?? []).map((cost) => (Number(cost) < 2 ** 53 ? cost : "huge")));
}
