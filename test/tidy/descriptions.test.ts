import { expect, test } from "vitest";
import { descriptions, faultOf } from "./descriptions.ts";

test("descriptions of fields, types, columns and query parameters say plainly what each is", async () => {
  const all = await descriptions();
  expect(all.length).toBeGreaterThan(3000);
  expect(all.map(faultOf).filter((fault) => fault !== undefined)).toEqual([]);
});

test.each([
  ["What the set is like now.", "Observed state of the ReplicaSet."],
  ["How many jobs that ended well are kept.", "Number of successful jobs to keep."],
  ["When a job was last made.", "Time at which a job was last scheduled."],
  ["Which resources are meant.", "Resources that the rule matches."],
  ["By which bindings and rules: the first of them.", "The first bindings and rules that grant it."],
  ["Whether the endpoint is on its way out.", "Whether the endpoint is terminating."],
  ["Value a pod that is aimed at.", "Target average value per pod."],
  ["Those whom the token is meant for.", "Intended audiences of the token."],
  ["number of replicas", "Desired number of replicas."],
])("the description %j is refused, and %j is not", (riddle, plain) => {
  expect(faultOf({ of: "Job.field", text: riddle })).toContain(`Job.field: ${JSON.stringify(riddle)}`);
  expect(faultOf({ of: "Job.field", text: plain })).toBeUndefined();
});

test("a description that leaves out the default of its field is refused", () => {
  const field = { of: "Job.backoffLimit", text: "Number of retries.", default: "6" };
  expect(faultOf(field)).toContain('end it with "Default: 6."');
  expect(faultOf({ ...field, text: "Number of retries. Default: 6." })).toBeUndefined();
});
