import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { useServer } from "../support/use-server.ts";
import { configMap, ok } from "./support.ts";

const path = "/api/v1/namespaces/default/configmaps";
const one = `${path}/one`;

const server = useServer();
beforeAll(async () => {
  await ok(server.admin.post(path, configMap("one", { key: "true" })));
});

describe("indented JSON", () => {
  const isLaidOut = (text: string): boolean => /^\{\n {2}"/.test(text) && text.endsWith("}");
  test.each([
    ["where it is asked for", `${one}?pretty=true`, "test", true],
    ["for 1", `${one}?pretty=1`, "test", true],
    ["not for 0", `${one}?pretty=0`, "curl/8.0", false],
    ["for curl", one, "curl/8.0", true],
    ["for wget", one, "Wget/1.21", true],
    ["for a browser", one, "Mozilla/5.0 (X11)", true],
    ["for curl, where it is said with nothing", `${one}?pretty`, "curl/8.0", true],
    ["not for another program", `${one}?pretty`, "client/1.0", false],
    ["in a list", `${path}?pretty=true`, "test", true],
    ["in a failure", `${path}/absent?pretty=true`, "test", true],
    ["not in the failure of a program", `${path}/absent`, "client/1.0", false],
  ])("%s", async (_when, at, agent, laidOut) => {
    const { text } = await server.admin.ask("GET", at, { headers: { "user-agent": agent } });
    expect(isLaidOut(text)).toBe(laidOut);
  });
});

describe("responses in YAML", () => {
  const accept = "application/yaml";

  test.each([
    ["a failure", `${path}/absent`],
    ["a failure with causes", `${path}?resourceVersionMatch=Exact`],
    ["a group", "/apis/coordination.platform.io"],
    ["the resources of a version", "/api/v1"],
    ["the groups", "/apis"],
  ])("%s has the same content as in JSON", async (_what, at) => {
    const json = await server.admin.get(at);
    const { status, headers, text } = await server.admin.ask("GET", at, { accept });
    expect([status, headers["content-type"]]).toEqual([json.status, accept]);
    expect(parse(text)).toEqual(json.body);
    expect(text).not.toMatch(/^\{/);
  });

  test("/version in YAML is 406", async () => {
    expect((await server.admin.ask("GET", "/version", { accept })).status).toBe(406);
  });

  test("a dot is not quoted, and a string that would be read as another type is", async () => {
    const { text } = await server.admin.ask("GET", one, { accept });
    expect(text).toMatch(/^ +\.: \{\}$/m);
    expect(text).toMatch(/^ {2}key: "true"$/m);
    expect(parse(text).data).toEqual({ key: "true" });
  });
});
