import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInKinds } from "../../src/kinds/all.ts";
import { ok } from "./support.ts";
import { TestServer } from "../support/api.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.close());

/** A small object of each kind that promises something, and the path of its collection. */
const promising: Record<string, [path: string, object: object]> = {
  APIService: [
    "/apis/apiregistration.platform.io/v1/apiservices",
    {
      metadata: { name: "v1.example.com" },
      spec: {
        group: "example.com",
        version: "v1",
        groupPriorityMinimum: 1,
        versionPriority: 1,
        insecureSkipTLSVerify: true,
        service: { namespace: "default", name: "s" },
      },
    },
  ],
};

describe("an object that promises what nothing enforces", () => {
  const kinds = builtInKinds.filter(({ effect }) => effect?.unenforced !== undefined);

  test("every such kind has an example", () => {
    expect(kinds.map(({ name }) => name).toSorted()).toEqual(Object.keys(promising).toSorted());
  });

  test.each(kinds.map((kind) => [kind.name, kind.effect!.unenforced!]))(
    "%s: a create says so in a warning, later writes don't",
    async (name, unenforced) => {
      const [path, object] = promising[name]!;
      const created = await ok(server.admin.post(path, { metadata: { name: "one" }, ...object }));
      expect(created.warnings).toContain(
        `this server stores the object and does not enforce it: ${unenforced}`,
      );
      const at = `${path}/${created.body.metadata.name}`;
      const changed = await ok(server.admin.patch(at, { metadata: { labels: { a: "b" } } }));
      expect(changed.warnings).toEqual([]);
    },
  );
});
