import { test } from "vitest";
import { TestServer } from "../support/api.ts";
import { ok, ManualClock, configMap } from "./support.ts";
test("probe", async () => {
  const clock = new ManualClock();
  const s = await TestServer.start({ clock });
  const a = s.admin;
  const p = "/api/v1/namespaces/default/configmaps";
  const rv = async () => (await a.get(p)).body.metadata.resourceVersion;
  await ok(a.post(p, configMap("a")));
  console.log("1", await rv());
  await ok(a.post(p, configMap("b")));
  console.log("2", await rv());
  const r = await rv();
  await ok(a.patch(p + "/a", { data: { x: "1" } }));
  console.log("3", await rv());
  await clock.advance(4.5 * 60000);
  await ok(a.patch(p + "/a", { data: { x: "2" } }));
  console.log("4", await rv());
  for (let i = 0; i < 12; i++) {
    await clock.advance(60000);
    console.log(
      i + 5.5,
      (await a.get(`${p}?resourceVersion=${r}&resourceVersionMatch=Exact`)).text.slice(0, 150),
      await rv(),
    );
  }
  await s.close();
}, 60000);
