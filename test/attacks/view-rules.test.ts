import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { namesIn, ok } from "../api/support.ts";
import { subscribe } from "../api/subscriptions-support.ts";
import { TestServer } from "../support/api.ts";

const secrets = "/api/v1/namespaces/default/secrets";
const rule = (verbs: readonly string[], resourceNames?: readonly string[]) => ({
  verbs,
  apiGroups: [""],
  resources: ["secrets"],
  ...(resourceNames === undefined ? {} : { resourceNames }),
});
/** The rules of each user. */
const users = {
  getter: rule(["get"]),
  named: rule(["get"], ["b"]),
  lister: rule(["list"]),
  namedLister: rule(["list"], ["c"]),
  watcher: rule(["watch"]),
};
const all = ["a", "b", "c"];
const byGet = { getter: all, named: ["b"], lister: [], namedLister: [], watcher: [] };
const byList = { getter: [], named: ["b"], lister: all, namedLister: ["c"], watcher: [] };

const names = Object.keys(users) as (keyof typeof users)[];

describe.each([
  ["platform", undefined, byGet],
  ["platform", "list", byList],
  ["kubernetes", undefined, byList],
  ["kubernetes", "get", byGet],
] as const)("view=mine with the vocabulary %s and --views=%s", (vocabulary, views, visible) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ vocabulary, views, users: names.map((name) => ({ name })) });
    const apiGroup = `rbac.authorization.${vocabulary === "kubernetes" ? "k8s.io" : "platform.io"}`;
    const rbac = `/apis/${apiGroup}/v1`;
    for (const name of names) {
      const metadata = { name };
      await ok(server.admin.post(`${rbac}/clusterroles`, { metadata, rules: [users[name]] }));
      const roleRef = { apiGroup, kind: "ClusterRole", name };
      const subjects = [{ apiGroup, kind: "User", name }];
      await ok(server.admin.post(`${rbac}/clusterrolebindings`, { metadata, roleRef, subjects }));
    }
    for (const name of all) await ok(server.admin.post(secrets, { metadata: { name } }));
  });
  afterAll(() => server.close());

  test.each(names)("%s lists, watches and subscribes to the same objects", async (name) => {
    const api = server.as(name);
    expect(namesIn(await ok(api.get(`${secrets}?view=mine`)))).toEqual(visible[name]);
    const watch = await ok(api.get(`${secrets}?view=mine&watch=true&timeoutSeconds=1`));
    const events = watch.text.split("\n").filter((line) => line !== "");
    const watched = events.map((line) => JSON.parse(line).object.metadata.name as string);
    expect(watched).toEqual(visible[name]);
    const subscription = await subscribe(api, ["secrets?namespace=default"], { view: "mine" });
    const state = (await subscription.state()).filter(({ type }) => type === "ADDED");
    expect(state.map(({ object }) => object.metadata.name)).toEqual(visible[name]);
    subscription.close();
  });
});
