import { Readable } from "node:stream";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Kubectl, describeKubectl } from "../support/kubectl.ts";
import { useServer } from "../support/use-server.ts";
import { configMap, ok } from "./support.ts";
import { Subscribed, shown, type Message } from "./subscriptions-support.ts";
import { blockOf } from "../support/pages.ts";

const server = useServer();
/** The paths that commands get with kubectl. */
function rawPaths(script: string): string[] {
  const paths = [...script.matchAll(/^kubectl get --raw '(.+)'$/gm)].map(([, at]) => at!);
  expect(paths).toHaveLength(script.trim().split("\n").length);
  return paths;
}

beforeAll(async () => {
  for (const name of ["web-b", "db", "web-a"]) {
    await ok(server.admin.post("/api/v1/namespaces/default/configmaps", configMap(name)));
  }
});

test("docs/subscriptions.md: the body of its POST is accepted", async () => {
  const body = blockOf("docs/subscriptions.md", "json request");
  const response = await server.admin.open("POST", "/subscriptions", { raw: body });
  expect(response.statusCode).toBe(200);
  const stream = new Subscribed(response);
  expect((await stream.state()).map(({ type }) => type)).toEqual(["BOOKMARK"]);
  stream.close();
});

test("docs/subscriptions.md: its example of messages has the members of messages", async () => {
  const messages = blockOf("docs/subscriptions.md", "json messages")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Message);
  expect(
    messages.map((one) =>
      one.object === undefined ? one.type : shown({ ...one, object: { metadata: { name: "x" } } }),
    ),
  ).toEqual(["ADDED 0 x", "BOOKMARK", "MODIFIED 1 x"]);
});

test("docs/subscriptions.md: its example for browsers reads the messages", async () => {
  const script = blockOf("docs/subscriptions.md", "js");
  const messages: Message[] = [];
  const fetch = async (path: string, { headers }: { headers: Record<string, string> }) => {
    const response = await server.as(undefined).open("GET", `${path}&timeoutSeconds=1`, { headers });
    return { body: Readable.toWeb(response) };
  };
  const context = {
    fetch,
    token: server.server.adminToken,
    console: { log: (one: Message) => void messages.push(one) },
    TextDecoderStream,
  };
  await runInNewContext(`(async () => {${script}})()`, context);
  expect(messages.map(({ type }) => type)).toEqual(["BOOKMARK"]);
});

describeKubectl("the commands of the pages", (program) => {
  let kubectl: Kubectl;
  beforeAll(() => {
    kubectl = new Kubectl(program, server.server.kubeconfig());
  });
  afterAll(() => kubectl.close());
  const get = (path: string) => kubectl.ok(["get", "--raw", path]);

  test("docs/subscriptions.md: the command prints the messages until its time is over", async () => {
    const [path, ...more] = rawPaths(blockOf("docs/subscriptions.md", "sh"));
    expect(more).toEqual([]);
    const text = await get(path!.replace("timeoutSeconds=10", "timeoutSeconds=1"));
    const [bookmark] = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Message);
    expect(bookmark).toMatchObject({ type: "BOOKMARK", initialEventsEnd: true });
  });

  test("docs/sorted-lists.md: the commands print lists in order", async () => {
    const [pods, search, ...more] = rawPaths(blockOf("docs/sorted-lists.md", "sh"));
    expect(more).toEqual([]);
    expect(JSON.parse(await get(pods!))).toMatchObject({ kind: "PodList", items: [] });
    const { items } = JSON.parse(await get(search!)) as { items: { metadata: { name: string } }[] };
    expect(items.map(({ metadata }) => metadata.name)).toEqual(["web-a", "web-b"]);
  });
});
