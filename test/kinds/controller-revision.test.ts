import { describe, expect, it } from "vitest";
import { ControllerRevision } from "../../src/kinds/apps/controller-revision.ts";
import { cellOf } from "./pod-support.ts";
import { readAs } from "./support.ts";
import { validateCreates, validateUpdates } from "./apps-support.ts";

describe("controller revisions", () => {
  validateCreates(ControllerRevision, [
    ["accepts a revision with data", { revision: 1, data: { a: 1 } }, []],
    ["rejects missing data", { revision: 1 }, ["data: Required"]],
    ["rejects a negative revision", { revision: -1, data: { a: 1 } }, ["revision: Invalid"]],
  ]);
  validateUpdates(ControllerRevision, [
    ["accepts another revision", { revision: 1, data: { a: 1 } }, { revision: 2, data: { a: 1 } }, []],
    [
      "rejects other data",
      { revision: 1, data: { a: 1 } },
      { revision: 1, data: { a: 2 } },
      ["data: Invalid"],
    ],
  ]);

  it("shows its table cells", () => {
    const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "u", controller: true };
    const object = readAs(ControllerRevision, {
      metadata: { name: "r", ownerReferences: [owner] },
      revision: 3,
      data: {},
    });
    expect(cellOf(ControllerRevision, object, "Controller")).toBe("statefulset.apps/web");
    expect(cellOf(ControllerRevision, object, "Revision")).toBe(3);
    expect(cellOf(ControllerRevision, readAs(ControllerRevision, { revision: 1 }), "Controller")).toBe(
      "<none>",
    );
  });
});
