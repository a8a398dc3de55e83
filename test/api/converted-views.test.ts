import { expect, test } from "vitest";
import { useConversionWebhook } from "./custom-resources/conversion-support.ts";
import { RBAC, ok } from "./support.ts";
import { Subscribed, shown, subscriptionPath } from "./subscriptions-support.ts";
import { createGrant, keysIn } from "./views-support.ts";

const { fixture, endpoints } = useConversionWebhook();
const as = { headers: { "impersonate-user": "ann" } };

/** A kind of endpoints with the objects `seen` and `hidden`; returns how to grant `get` of the object `seen` to ann. */
async function endpointsWithGrant() {
  const { admin } = fixture.server;
  const made = await endpoints();
  for (const [index, name] of ["hidden", "seen"].entries()) {
    await ok(admin.post(made.v1, made.inV1(name, `${name}:${index}`)));
  }
  const grant = (resource: string) =>
    createGrant(admin, {
      name: resource,
      namespace: "default",
      kind: "Role",
      rules: [
        {
          verbs: ["get"],
          apiGroups: ["shop.example.com"],
          resources: [resource],
          resourceNames: ["seen", "late"],
        },
      ],
      subject: { kind: "User", apiGroup: "rbac.authorization.platform.io", name: "ann" },
    });
  const revoke = () => ok(admin.delete(`${RBAC}/namespaces/default/rolebindings/${made.plural}`));
  return { ...made, grant: () => grant(made.plural), revoke };
}

const inV2 = (name: string, port: number) =>
  expect.objectContaining({
    apiVersion: "shop.example.com/v2",
    metadata: expect.objectContaining({ name }),
    spec: { host: name, port },
  });

test("a list with view=mine has the visible objects as the conversion webhook returns them", async () => {
  const made = await endpointsWithGrant();
  await made.grant();
  const list = await ok(fixture.server.admin.ask("GET", `${made.v2}?view=mine`, as));
  expect(keysIn(list)).toEqual(["default/seen"]);
  expect(list.body.items).toEqual([inV2("seen", 1)]);
  const sorted = await ok(
    fixture.server.admin.ask("GET", `${made.v2}?view=mine&sort=-metadata.name&limit=1`, as),
  );
  expect([sorted.body.items, sorted.body.metadata.continue]).toEqual([[inV2("seen", 1)], ""]);
});

test("a watch with view=mine sends converted objects as grants and objects change", async () => {
  const { admin } = fixture.server;
  const made = await endpointsWithGrant();
  const watch = new Subscribed(await admin.open("GET", `${made.v2}?view=mine&watch=true`, as));
  await made.grant();
  expect(await watch.next()).toMatchObject({ type: "ADDED", object: inV2("seen", 1) });
  await ok(admin.post(made.v1, made.inV1("invisible", "host:7")));
  await ok(admin.post(made.v1, made.inV1("late", "late:2")));
  expect(await watch.next()).toMatchObject({ type: "ADDED", object: inV2("late", 2) });
  await made.revoke();
  const hidden = [await watch.next(), await watch.next()];
  expect(hidden.map(({ type }) => type)).toEqual(["DELETED", "DELETED"]);
  expect(hidden.map(({ object }) => object)).toEqual([inV2("late", 2), inV2("seen", 1)]);
  watch.close();
});

test("a subscription with view=mine sends each version, in the order of revisions", async () => {
  const { admin } = fixture.server;
  const made = await endpointsWithGrant();
  const watches = ["v1", "v2"].map((version) => `shop.example.com/${version}/${made.plural}`);
  const path = subscriptionPath([...watches, "configmaps"], { view: "mine" });
  const stream = new Subscribed(await admin.open("GET", path, as));
  expect(await stream.state()).toHaveLength(1);
  await made.grant();
  const [v1, v2] = await stream.messages(2);
  expect([shown(v1!), shown(v2!)]).toEqual(["ADDED 0 seen", "ADDED 1 seen"]);
  expect([v1!.object.spec, v2!.object]).toEqual([{ endpoint: "seen:1" }, inV2("seen", 1)]);
  expect([v1!.resumeAfter === undefined, v2!.resumeAfter === undefined]).toEqual([true, false]);
  await made.revoke();
  expect((await stream.messages(2)).map(shown)).toEqual(["DELETED 0 seen", "DELETED 1 seen"]);
  stream.close();
});

test("a watch with view=mine of objects that can't be converted ends with an ERROR when a grant shows them", async () => {
  const { admin } = fixture.server;
  const made = await endpointsWithGrant();
  const watch = new Subscribed(await admin.open("GET", `${made.v2}?view=mine&watch=true`, as));
  fixture.answer = () => ({ status: 500, body: {} });
  await made.grant();
  expect((await watch.toEnd()).at(-1)).toMatchObject({ type: "ERROR", object: { status: "Failure" } });
});
