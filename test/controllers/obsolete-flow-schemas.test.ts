import { afterAll, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";
import { ok } from "../api/support.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

const group = "/apis/flowcontrol.apiserver.k8s.io";
const names = async ({ admin }: TestServer, version: string): Promise<string[]> => {
  const { body } = await ok(admin.get(`${group}/${version}/flowschemas`));
  return body.items.map(({ metadata }: { readonly metadata: { readonly name: string } }) => metadata.name);
};

test("flow schemas of locks that are no leases are absent from release 1.34 on, and are removed unless they were changed", async () => {
  const older = ["endpoint-controller", "workload-leader-election"];
  const storage = { engine: "embedded", dir: folder.path } as const;
  const first = await TestServer.start({ release: "1.33", vocabulary: "kubernetes", storage });
  expect(await names(first, "v1")).toEqual(expect.arrayContaining(older));
  const annotations = { "apf.kubernetes.io/autoupdate-spec": "false" };
  await ok(first.admin.patch(`${group}/v1/flowschemas/endpoint-controller`, { metadata: { annotations } }));
  const before = await names(first, "v1");
  await first.close();
  const second = await TestServer.start({ release: "1.34", vocabulary: "kubernetes", storage });
  expect(await names(second, "v1")).toEqual(before.filter((name) => name !== "workload-leader-election"));
  await second.close();
});
