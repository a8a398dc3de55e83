import { expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import type { AdmissionPlugin } from "../../src/admission/admission-chain.ts";
import type { ConfigMap } from "../../src/kinds/core/config-map.ts";

/** What the two phases were asked, in their order; what they do is what the object's data says. */
const asked: string[] = [];
const witness: AdmissionPlugin = {
  name: "Witness",
  concerns: (operation, { resource }) => operation === "CREATE" && resource.kind.name === "ConfigMap",
  mutate({ object }) {
    asked.push("mutating");
    const map = object as unknown as ConfigMap;
    map.data = { ...map.data, mutated: "yes" };
    if (map.data["do"] === "break") map.data["no key!"] = "";
  },
  validate({ object }) {
    const { data = {} } = object as unknown as ConfigMap;
    asked.push(`validating ${data["mutated"]}`);
    if (data["do"] === "refuse") throw new Error("no");
  },
};

const server = useServer({ users: [{ name: "nobody" }], admissionPlugins: [witness] });

const maps = "/api/v1/namespaces/default/configmaps";
const map = (what: string) => ({ metadata: { name: "it" }, data: { do: what } });

test("C-4.13-01 a write passes authentication, authorization, mutating, checks, validating and the store in this order", async () => {
  const { admin } = server;
  const seen = async (answer: Promise<{ status: number }>): Promise<[number, ...string[]]> => {
    asked.length = 0;
    const { status } = await answer;
    return [status, ...asked];
  };
  const nobody = server.as("nobody");
  // Who is unknown isn't asked whether they may, who may not isn't heard by plugins.
  expect(await seen(server.as("wrong-token").post(maps, map("break")))).toEqual([401]);
  expect(await seen(nobody.post(maps, map("break")))).toEqual([403]);
  // What a plugin has made of the object is checked, before other plugins see it.
  expect(await seen(admin.post(maps, map("break")))).toEqual([422, "mutating"]);
  expect(await seen(admin.post(maps, map("refuse")))).toEqual([500, "mutating", "validating yes"]);
  expect((await admin.get(`${maps}/it`)).status).toBe(404);
  expect(await seen(admin.post(maps, map("nothing")))).toEqual([201, "mutating", "validating yes"]);
  expect((await admin.get(`${maps}/it`)).body.data).toEqual({ do: "nothing", mutated: "yes" });
});
