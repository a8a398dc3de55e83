import { describe, expect, test } from "vitest";
import { TestServer } from "../../support/api.ts";
import { ExtensionObjects } from "../../support/extension-objects.ts";
import { ExtensionServer, apiServices } from "../../support/extension-server.ts";
import { systemClock, type Clock } from "../../../src/base/time/clock.ts";
import { ManualClock, namespace, ok, until } from "../support.ts";

test("a namespace stays while an extension server is unavailable, says so, and is deleted afterwards", async () => {
  const server = await TestServer.start({ connections: { allowLoopback: true } });
  const extension = await ExtensionServer.start();
  try {
    const service = { namespace: "default", name: "nowhere", port: 443 };
    await extension.registerOnly(server.admin, { service });
    await extension.whenAvailable(server.admin, "False");
    await ok(server.admin.post("/api/v1/namespaces", namespace("held")));
    await ok(server.admin.delete("/api/v1/namespaces/held"));
    const read = () => server.admin.get("/api/v1/namespaces/held");
    const { body } = await until(read, (answer) => answer.body["status"]?.conditions !== undefined);
    expect(body["status"].conditions).toMatchObject([
      {
        type: "NamespaceDeletionDiscoveryFailure",
        status: "True",
        reason: "DiscoveryFailed",
        message: expect.stringContaining("widgets.example.com/v1"),
      },
    ]);
    expect(body["spec"].finalizers).toHaveLength(1);
    await ok(server.admin.delete(`${apiServices}/${extension.name}`));
    await until(read, ({ status }) => status === 404);
  } finally {
    await server.close();
    await extension.close();
  }
});

describe("a terminating namespace with objects at an extension server", () => {
  async function withWidgets(
    run: (parts: {
      server: TestServer;
      widgets: ExtensionObjects;
      remove: (name: string) => Promise<unknown>;
      read: (name: string) => ReturnType<TestServer["admin"]["get"]>;
    }) => Promise<void>,
    { verbs, clock = systemClock }: { readonly verbs?: readonly string[]; readonly clock?: Clock } = {},
  ): Promise<void> {
    const server = await TestServer.start({ clock, connections: { allowLoopback: true } });
    const extension = await ExtensionServer.start();
    const widgets = new ExtensionObjects(extension, verbs);
    try {
      await extension.register(server.admin);
      for (const name of ["team", "other"])
        await ok(server.admin.post("/api/v1/namespaces", namespace(name)));
      const remove = (name: string) => ok(server.admin.delete(`/api/v1/namespaces/${name}`));
      const read = (name: string) => server.admin.get(`/api/v1/namespaces/${name}`);
      await run({ server, widgets, remove, read });
    } finally {
      await server.close();
      await extension.close();
    }
  }

  test.each([
    ["with deletecollection", {}],
    ["one by one", { verbs: ["get", "list", "delete"] }],
  ])("is deleted after they are, %s", (_title, options) =>
    withWidgets(async ({ widgets, remove, read }) => {
      widgets.put("team", "a");
      widgets.put("other", "b");
      await remove("team");
      await until(
        () => read("team"),
        ({ status }) => status === 404,
      );
      expect([...widgets.objects.keys()]).toEqual(["other/b"]);
    }, options),
  );

  test("stays while one has a finalizer, and says so", () =>
    withWidgets(async ({ widgets, remove, read }) => {
      const kept = widgets.put("team", "a", { finalizers: ["example.com/hold"] });
      await remove("team");
      const { body } = await until(
        () => read("team"),
        (answer) => answer.body["status"]?.conditions !== undefined,
      );
      const messages = body["status"].conditions.map(({ type, message }: Record<string, string>) => [
        type,
        message,
      ]);
      expect(messages).toEqual([
        ["NamespaceContentRemaining", expect.stringContaining("widgets.widgets.example.com has 1 resource")],
        ["NamespaceFinalizersRemaining", expect.stringContaining("example.com/hold in 1 resource")],
      ]);
      delete kept.finalizers;
      await until(
        () => read("team"),
        ({ status }) => status === 404,
      );
    }));

  test("delays neither another one nor the server's end when the extension server doesn't answer for it", () =>
    withWidgets(
      async ({ server, widgets, remove, read }) => {
        widgets.silent.add("team");
        await remove("team");
        await until(
          () => Promise.resolve(widgets.requests),
          (requests) => requests.some((one) => one.includes("/team/")),
        );
        widgets.put("other", "b");
        await remove("other");
        await until(
          () => read("other"),
          ({ status }) => status === 404,
        );
        expect((await read("team")).status).toBe(200);
        // Time stands still: the call can't reach its time limit.
        await server.close();
      },
      { clock: new ManualClock() },
    ));
});
