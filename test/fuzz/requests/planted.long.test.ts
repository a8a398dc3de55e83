import { expect, it } from "vitest";
import { fuzzRequests } from "./fuzz-requests.ts";
import { maxTurnMs } from "./long-run.ts";

/** The comparison of owner references as it was once: with each earlier one. */
const quadraticOwners = {
  file: "src/resources/input/metadata.ts",
  find: "if (distinct.has(identity)) repeated.push(owner.uid);",
  replace: "if ([...distinct.keys()].filter((one) => one === identity).length > 0) repeated.push(owner.uid);",
};

it("the search finds a request for which the server compares owner references in quadratic time", async () => {
  const report = await fuzzRequests({
    seed: 1,
    vocabulary: "platform",
    focus: "ownerReferences",
    patch: quadraticOwners,
    goOn: (requests) => requests < 3,
  });
  const [worst] = report.worst;
  expect(worst?.ms).toBeGreaterThan(maxTurnMs);
}, 120_000);
