import { expect, it } from "vitest";
import { useServer } from "../support/use-server.ts";
import { ok } from "./support.ts";

const server = useServer({ enabledControllers: [] });

const drivers = "/apis/storage.platform.io/v1/csidrivers";

it("a field dropped by a gate doesn't change the generation of a CSIDriver; one that nodes use does", async () => {
  const driver = { metadata: { name: "d.example.com" }, spec: { seLinuxMount: true } };
  const { body } = await ok(server.admin.post(drivers, driver));
  expect(body.spec).not.toHaveProperty("seLinuxMount");
  const put = async (spec: object) => {
    const { metadata } = (await ok(server.admin.get(`${drivers}/d.example.com`))).body;
    const answer = await ok(server.admin.put(`${drivers}/d.example.com`, { ...body, metadata, spec }));
    return answer.body.metadata.generation;
  };
  expect(await put({ ...body.spec, seLinuxMount: true, storageCapacity: true })).toBeUndefined();
  expect(await put({ ...body.spec, requiresRepublish: true })).toBe(1);
});
