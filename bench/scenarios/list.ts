import { besideLimit } from "../beside-limit.ts";
import { answersLimit } from "../limit-servers.ts";
import { getText, headOf } from "../load/http-text.ts";
import { configMap, configMapsPath, objectName } from "../objects.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject, type Subject } from "../subject.ts";

const objects = 10_000;
const pageSize = 500;
/** Lists that are read at a time. */
const connections = 4;

/** Listing 10,000 objects, at once and in pages; limit: the same bytes from a bare server. */
export const list: Scenario = {
  name: "list",
  remote: true,
  async *run(bench: Bench) {
    const subject = await openSubject(bench.options, "list");
    try {
      const { api, namespace, token } = subject;
      const path = configMapsPath(namespace);
      await api.createAll(objects, (index) => ({ path, object: configMap(namespace, objectName(index)) }));
      const whole = bench.options.target === undefined ? [await api.ask("GET", path)] : [];
      yield await besideLimit(bench, subject, () => answersLimit(bench, whole), {
        name: "list, 10,000 x 1 KB",
        unit: "lists/s",
        aim: 0.7,
        plan: (address) => ({ address, connections, request: { kind: "same", text: getText(path, token) } }),
      });
      const first = `${path}?limit=${pageSize}`;
      const pages = bench.options.target === undefined ? await pagesOf(subject, first) : [];
      yield await besideLimit(bench, subject, () => answersLimit(bench, pages), {
        name: "list, 10,000 x 1 KB in pages of 500",
        unit: "lists/s",
        plan: (address) => ({
          address,
          connections,
          request: { kind: "pages", path: first, head: headOf(token) },
        }),
      });
    } finally {
      await subject.close();
    }
  },
};

async function pagesOf({ api }: Subject, first: string): Promise<Buffer[]> {
  const pages: Buffer[] = [];
  for (let token: string | undefined = ""; token !== undefined;) {
    const page = await api.ask("GET", token === "" ? first : `${first}&continue=${token}`);
    pages.push(page);
    token = (JSON.parse(page.toString("utf8")) as { metadata: { continue?: string } }).metadata.continue;
  }
  return pages;
}
