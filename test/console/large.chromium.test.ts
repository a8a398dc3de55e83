import { expect, it } from "vitest";
import { configMap, ok, until } from "../api/support.ts";
import { storeOf } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { shownNames, useBrowser } from "./browser.ts";

const server = useServer({ console: true, users: [{ name: "root", groups: ["system:masters"] }] });
const browser = useBrowser();
const maps = "/api/v1/namespaces/default/configmaps";
const count = 100_000;
const nameOf = (index: number) => `object-${String(index).padStart(6, "0")}`;

/** Creates config maps as copies of a stored one, which takes a tenth of the time of requests. */
async function fill(): Promise<void> {
  await ok(server.admin.post(maps, configMap(nameOf(0))));
  const store = storeOf(server);
  const { entries } = await store.range({ prefix: "/core/configmaps/default/" });
  const { key, header, body, revision, revisionAt } = entries.find((entry) => entry.key.endsWith(nameOf(0)))!;
  const text = Buffer.from(body).toString();
  const before = text.slice(0, revisionAt) + text.slice(revisionAt + String(revision).length);
  for (let at = 1; at < count; at += 1000) {
    const names = Array.from({ length: Math.min(1000, count - at) }, (_, offset) => nameOf(at + offset));
    await Promise.all(
      names.map((name) => {
        const draft = {
          header: Buffer.from(Buffer.from(header).toString().replaceAll(nameOf(0), name)),
          body: Buffer.from(before.replaceAll(nameOf(0), name)),
          revisionAt,
        };
        return store.commit({ kind: "create", key: key.replace(nameOf(0), name), draft });
      }),
    );
  }
}

it("100,000 objects: rows within 300 ms of the key, and 60 frames a second while 100 changes a second arrive", async () => {
  await fill();
  const { page, complaints } = await browser.signIn(server, "root", "#/list/core/namespaces");
  await page.getByRole("row", { name: /default/ }).waitFor();
  // Measured in the page: from the change of the place to the first frame with rows.
  const firstRowsMs = await page.evaluate<number>(`new Promise((resolve) => {
    const startMs = performance.now();
    const look = () => document.querySelector(".table-space .row .link")?.textContent.startsWith("object-")
      ? resolve(performance.now() - startMs)
      : requestAnimationFrame(look);
    location.hash = "#/list/core/configmaps?namespace=default";
    look();
  })`);
  await until(
    () => page.locator(".count").textContent(),
    (text) => text === String(count),
  );
  await page.getByText("live", { exact: true }).waitFor();
  await page.keyboard.press("End");
  await page.getByRole("row", { name: new RegExp(nameOf(count - 1)) }).waitFor();
  expect((await shownNames(page)).length).toBeLessThan(60);
  await page.keyboard.press("Home");

  const measured = page.evaluate<{
    frames: number;
    longestMs: number;
    shown: number;
  }>(`new Promise((resolve) => {
    const times = [];
    const shown = new Set();
    const look = (ms) => {
      times.push(ms);
      for (const cell of document.querySelectorAll(".table-space .row.fresh .link")) shown.add(cell.textContent);
      if (ms - times[0] < 3000) return requestAnimationFrame(look);
      const longestMs = Math.max(...times.slice(1).map((one, at) => one - times[at]));
      resolve({ frames: (times.length - 1) / ((ms - times[0]) / 1000), longestMs, shown: shown.size });
    };
    requestAnimationFrame(look);
  })`);
  for (let at = 0; at < 300; at++) {
    const path = `${maps}/${nameOf((at * 331) % (at % 2 === 0 ? 20 : count))}`;
    await ok(server.admin.patch(path, { data: { at: String(at) } }));
    await new Promise((resolve) => setTimeout(resolve, 8));
  }
  const { frames, longestMs, shown } = await measured;
  console.log(
    `first rows ${firstRowsMs.toFixed(0)} ms, ${frames.toFixed(1)} frames a second, longest ${longestMs.toFixed(0)} ms`,
  );
  expect(shown).toBeGreaterThan(5);
  // Other tests may run beside this one: the limits are twice those of the page, which docs/console.md states.
  expect(firstRowsMs).toBeLessThan(600);
  expect(frames).toBeGreaterThan(30);
  expect(complaints).toEqual([]);
}, 120_000);
