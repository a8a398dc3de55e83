import { beforeAll, describe, expect, test } from "vitest";
import { ok } from "../support.ts";
import { useServer } from "../../support/use-server.ts";
import { definition, group, served } from "./support.ts";

const server = useServer();
let teams: string;

beforeAll(async () => {
  const any = { type: "object", "x-platform-preserve-unknown-fields": true };
  const subresources = {
    status: {},
    scale: {
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.replicas",
      labelSelectorPath: ".status.selector",
    },
  };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: any, status: any } } };
  const versions = [{ name: "v1", served: true, storage: true, schema, subresources }];
  teams = await served(server.admin, definition({ versions }, "teams", "Team") as never);
});

const create = (name: string, spec: object) =>
  ok(server.admin.post(teams, { apiVersion: `${group}/v1`, kind: "Team", metadata: { name }, spec }));
const scale = (name: string, spec: object) => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  metadata: { name },
  spec,
});
const specOf = async (name: string) => (await server.admin.get(`${teams}/${name}`)).body.spec;

describe("the scale of a custom object without a replica count", () => {
  beforeAll(() => create("none", { free: 1 }));

  test("is 500 for a get, which names the path", async () => {
    const { status, body } = await server.admin.get(`${teams}/none/scale`);
    expect([status, body.reason]).toEqual([500, "InternalError"]);
    expect(body.message).toContain(".spec.replicas");
  });

  test.each<[string, "merge" | "json", unknown]>([
    ["an empty merge patch", "merge", {}],
    ["a merge patch of other fields", "merge", { status: { replicas: 3 } }],
    ["an empty JSON patch", "json", []],
  ])("is 400 for %s, which writes nothing", async (_title, kind, patch) => {
    const { status, body } = await server.admin.patch(`${teams}/none/scale`, patch, kind);
    expect([status, body.reason]).toEqual([400, "BadRequest"]);
    expect(await specOf("none")).toEqual({ free: 1 });
  });

  test("is 400 for an apply without the count", async () => {
    const { status } = await server.admin.ask("PATCH", `${teams}/none/scale?fieldManager=m`, {
      body: scale("none", {}),
      contentType: "application/apply-patch+yaml",
    });
    expect([status, await specOf("none")]).toEqual([400, { free: 1 }]);
  });

  test("gets one from a patch, and zero from a put without the count", async () => {
    await create("patched", {});
    const patched = await ok(server.admin.patch(`${teams}/patched/scale`, { spec: { replicas: 2 } }));
    expect([patched.body.spec, await specOf("patched")]).toEqual([{ replicas: 2 }, { replicas: 2 }]);
    await create("put", {});
    await ok(server.admin.put(`${teams}/put/scale`, scale("put", {})));
    expect(await specOf("put")).toEqual({ replicas: 0 });
    expect((await server.admin.get(`${teams}/put/scale`)).body.spec).toEqual({});
  });
});

describe("values that a scale can't show are 422", () => {
  beforeAll(() => create("wrong", { replicas: 1 }));

  test.each([
    ["an object as selector", { selector: { matchLabels: { a: "b" } } }, ".status.selector"],
    ["a number as selector", { selector: 1 }, ".status.selector"],
    ["a string as replica count", { replicas: "1" }, ".status.replicas"],
    ["a negative replica count", { replicas: -1 }, ".status.replicas"],
  ])("for %s", async (_title, state, path) => {
    const { status, body } = await server.admin.patch(`${teams}/wrong/status`, { status: state });
    expect([status, body.details.causes.map(({ field }: { field: string }) => field)]).toEqual([422, [path]]);
  });

  test("for an object that contains the replica count", async () => {
    const { status, body } = await server.admin.patch(`${teams}/wrong`, { spec: "text" });
    expect([status, body.details?.causes?.length > 0]).toEqual([422, true]);
  });

  test("for a negative number in a patch of the scale", async () => {
    expect((await server.admin.patch(`${teams}/wrong/scale`, { spec: { replicas: -1 } })).status).toBe(422);
  });
});
