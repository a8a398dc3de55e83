import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { curlCommand, kubectlCommand } from "../../console/src/model/copies.ts";
import { formatRoute, parseRoute } from "../../console/src/model/routes.ts";
import { whyCommand } from "../../console/src/model/why-command.ts";
import {
  authorText,
  conflictText,
  isPrevented,
  nameText,
  sentenceOf,
  writtenObjects,
  type Conflict,
} from "../../console/src/model/workspace-changes.ts";
import {
  baseText,
  expiryOf,
  newWorkspace,
  sourceOf,
  workspaceOf,
  workspacePath,
  workspaceUrl,
  type Workspace,
} from "../../console/src/model/workspaces.ts";

const workspace = (spec: Workspace["spec"], status?: Workspace["status"]): Workspace => ({
  metadata: { name: "trial", creationTimestamp: "2026-11-30T10:00:00Z" },
  ...(spec && { spec }),
  ...(status && { status }),
});

describe("the workspace of a page", () => {
  it("is that in the query of its URL, and the server if that is no name", () => {
    expect(["?workspace=trial", "?other=1&workspace=a-1", "", "?workspace="].map(workspaceOf)).toEqual([
      "trial",
      "a-1",
      "",
      "",
    ]);
    for (const name of ["..", "../api", "A", "a/b", "-a", "a-", "a%2Fb", "a".repeat(64), "a b", "a?b", "a#b"])
      expect([name, workspaceOf(`?workspace=${encodeURIComponent(name)}`)]).toEqual([name, ""]);
  });

  it("can't lead out of the paths of workspaces, whatever the query is", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const path = workspacePath(workspaceOf(`?workspace=${encodeURIComponent(text)}`));
        expect(new URL(`${path}/api`, "https://h").pathname).toMatch(/^(?:\/clusters\/[a-z\d-]+)?\/api$/);
      }),
    );
  });

  it("has links that keep the place, relative to the page", () => {
    const at = (url: string) => new URL(url, "https://h/console/?workspace=other#/list/core/pods").href;
    expect([at(workspaceUrl("trial", "#/access/mine")), at(workspaceUrl("", "#/"))]).toEqual([
      "https://h/console/?workspace=trial#/access/mine",
      "https://h/console/#/",
    ]);
  });

  it("is in the commands of its objects", () => {
    const type = { group: "", version: "v1", name: "configmaps", kind: "ConfigMap", namespaced: true };
    const maps = { ...type, verbs: [], shortNames: [], subresources: [] };
    const server = "https://h:1/clusters/trial";
    expect(kubectlCommand(maps, "shop", "a", server)).toBe(
      "kubectl get configmaps a --namespace=shop --server=https://h:1/clusters/trial --output=yaml",
    );
    expect(curlCommand(server, maps, "shop", "a")).toContain(`${server}/api/v1/namespaces/shop/configmaps/a`);
    expect(whyCommand("ann", { verb: "get", group: "", resource: "pods" }, [], server)).toBe(
      "plinth auth why ann get pods -A --server=https://h:1/clusters/trial",
    );
  });
});

describe("a workspace", () => {
  it("has a place for each of its views, with their options", () => {
    for (const place of [
      { view: "workspace", name: "trial", tab: "overview", query: {} },
      { view: "workspace", name: "trial", tab: "difference", query: { since: "start" } },
      { view: "workspace", name: "a/ b", tab: "merge", query: { into: "other", strategy: "theirs" } },
      { view: "workspaces" },
    ] as const)
      expect(parseRoute(formatRoute(place))).toEqual(place);
    expect(parseRoute("#/workspace")).toEqual({ view: "home" });
  });

  it("says what it began with", () => {
    const at = (resourceVersion: string, name?: string) => ({
      bases: [{ resourceVersion, ...(name !== undefined && { workspace: name, uid: "u" }) }],
    });
    expect(baseText(workspace({ from: {} }, at("12")))).toBe("the server at version 12");
    expect(baseText(workspace({ from: { workspace: "shop" } }, at("12", "shop")))).toBe("shop at version 12");
    expect(baseText(workspace({ from: {} }))).toBe("the server");
    expect([workspace(undefined), workspace({}), workspace({ from: null })].map(baseText)).toEqual(
      Array.from({ length: 3 }, () => "default objects only"),
    );
    expect(sourceOf(workspace({}))).toBeUndefined();
  });

  it("expires after its seconds, or never", () => {
    expect(expiryOf(workspace({ expirationSeconds: 3600 }))).toBe("2026-11-30T11:00:00.000Z");
    expect([expiryOf(workspace({})), expiryOf(workspace({ expirationSeconds: null }))]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it("is created from a source, with hours until it is deleted", () => {
    expect(newWorkspace("a", "server", " ")).toEqual({ metadata: { name: "a" }, spec: { from: {} } });
    expect(newWorkspace("a", "defaults", "0.5")).toEqual({
      metadata: { name: "a" },
      spec: { expirationSeconds: 1800 },
    });
    expect(newWorkspace("a", { workspace: "b" }, "")).toEqual({
      metadata: { name: "a" },
      spec: { from: { workspace: "b" } },
    });
    for (const hours of ["soon", "-1", "0"]) expect(() => newWorkspace("a", "server", hours)).toThrow(hours);
  });
});

describe("the changes of a workspace", () => {
  const object = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "settings" };
  const conflict = (reason: string, more: Partial<Conflict> = {}): Conflict => ({
    ...object,
    reason,
    ...more,
  });
  const names = { theirs: "trial", ours: "the base" };

  it("name their objects and authors", () => {
    const { namespace: _, ...ofCluster } = { ...object, kind: "Namespace" };
    expect([nameText(object), nameText(ofCluster)]).toEqual([
      "ConfigMap shop/settings",
      "Namespace settings",
    ]);
    const field = { path: ".data.a", managers: ["devi", "omar"] };
    expect([
      authorText(field),
      authorText({ ...field, changedIn: "both" }),
      authorText({ path: ".data.a", changedIn: "base" }),
      authorText({ path: ".data.a", changedIn: "workspace" }),
    ]).toEqual(["devi, omar", "devi, omar; changed in both", "changed in the base", ""]);
  });

  it("are prevented by conflicts without a resolution, and leave out what isn't written", () => {
    expect(isPrevented({})).toBe(false);
    expect(isPrevented({ conflicts: [conflict("Changed", { resolution: "ours" })] })).toBe(false);
    expect(isPrevented({ conflicts: [conflict("Changed")] })).toBe(true);
    const objects = ["none", "update"].map((action) => ({ ...object, action }));
    expect(writtenObjects({ objects }).map(({ action }) => action)).toEqual(["update"]);
  });

  it("have messages that are sentences", () => {
    expect([sentenceOf("no object differs"), sentenceOf("")]).toEqual(["No object differs.", ""]);
  });

  it.each([
    ["Deleted", "changed in trial, deleted in the base"],
    ["Deleted", "deleted in trial, changed in the base", ".data.a"],
    ["Replaced", "deleted in trial, created again in the base"],
    ["Terminating", "its deletion has not ended in the base"],
    ["InUse", "deleted in trial, contains pods in the base"],
    ["NotServed", "the kind is not served in the base"],
    ["Later", "changed in trial and in the base"],
  ])("say what a conflict of the reason %s is: %s", (reason, text, path?: string) => {
    expect(
      conflictText(conflict(reason, { contents: "pods", ...(path !== undefined && { path }) }), names),
    ).toBe(text);
  });
});
