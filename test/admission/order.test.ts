import { expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import type { AdmissionPlugin } from "../../src/admission/admission-chain.ts";
import type { ConfigMap } from "../../src/kinds/core/config-map.ts";

/** The calls of the plugin in order; `data.do` of the object selects what the plugin does. */
const calls: string[] = [];
const witness: AdmissionPlugin = {
  name: "Witness",
  concerns: (operation, { resource }) => operation === "CREATE" && resource.kind.name === "ConfigMap",
  mutate({ object }) {
    calls.push("mutating");
    const map = object as unknown as ConfigMap;
    map.data = { ...map.data, mutated: "yes" };
    if (map.data["do"] === "break") map.data["no key!"] = "";
  },
  validate({ object }) {
    const { data = {} } = object as unknown as ConfigMap;
    calls.push(`validating ${data["mutated"]}`);
    if (data["do"] === "refuse") throw new Error("no");
  },
};

const server = useServer({ users: [{ name: "nobody" }], admissionPlugins: [witness] });

const maps = "/api/v1/namespaces/default/configmaps";
const map = (what: string) => ({ metadata: { name: "it" }, data: { do: what } });

test("C-4.13-01 a write passes authentication, authorization, mutating admission, validation, validating admission and the store in this order", async () => {
  const { admin } = server;
  const seen = async (answer: Promise<{ status: number }>): Promise<[number, ...string[]]> => {
    calls.length = 0;
    const { status } = await answer;
    return [status, ...calls];
  };
  const nobody = server.as("nobody");
  // An unauthenticated or unauthorized request reaches no plugin.
  expect(await seen(server.as("wrong-token").post(maps, map("break")))).toEqual([401]);
  expect(await seen(nobody.post(maps, map("break")))).toEqual([403]);
  // The mutated object is validated before validating admission.
  expect(await seen(admin.post(maps, map("break")))).toEqual([422, "mutating"]);
  expect(await seen(admin.post(maps, map("refuse")))).toEqual([500, "mutating", "validating yes"]);
  expect((await admin.get(`${maps}/it`)).status).toBe(404);
  expect(await seen(admin.post(maps, map("nothing")))).toEqual([201, "mutating", "validating yes"]);
  expect((await admin.get(`${maps}/it`)).body.data).toEqual({ do: "nothing", mutated: "yes" });
});
