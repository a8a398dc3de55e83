import { afterAll, beforeAll, expect, it } from "vitest";
import { useBrowser } from "../console/browser.ts";
import { FakeBackend, makePod } from "../support/backends.ts";
import { useServer } from "../support/use-server.ts";
import { RBAC, clusterRoleBinding, group, ok, refTo } from "../api/support.ts";

/** A browser without credentials has all rights here, as one with the client certificate of an administrator. */
const server = useServer({ anonymousAuth: true, console: true, connections: { allowLoopback: true } });
const browser = useBrowser();
const proxy = "/api/v1/namespaces/default/pods/page/proxy";
const maps = "/api/v1/namespaces/default/configmaps";
let backend: FakeBackend;

/** Tries to create an object by a script and by a form, and to register a service worker. */
const page = `<!doctype html><title>page</title><p>loaded</p>
<form method="post" enctype="text/plain" action="${maps}" id="form"><input name='{"metadata":{"name":"form"},"a":"' value='"}'>
<button>send</button></form><script>
document.title = "script";
fetch("${maps}", { method: "POST", body: JSON.stringify({ metadata: { name: "script" } }) });
navigator.serviceWorker.register("worker.js", { scope: "/" });
</script>`;

beforeAll(async () => {
  backend = await FakeBackend.start((request, response) => {
    const isWorker = request.url!.endsWith("worker.js");
    response.writeHead(200, {
      "Content-Type": isWorker ? "text/javascript" : "text/html",
      "Service-Worker-Allowed": "/",
      "Content-Security-Policy": "sandbox allow-scripts allow-same-origin allow-forms",
    });
    response.end(isWorker ? "" : page);
  });
  await makePod(server.admin, "page", { ip: "127.0.0.1", port: backend.port });
  const anonymous = clusterRoleBinding("all", refTo("ClusterRole", "cluster-admin"), [
    group("system:unauthenticated"),
  ]);
  await ok(server.admin.post(`${RBAC}/clusterrolebindings`, anonymous));
});
afterAll(() => backend.close());

it("a page behind proxy runs no script, writes nothing and gets no service worker", async () => {
  const { page: opened, requested } = await browser.open(`${server.server.url!}${proxy}/index.html`);
  await opened.getByText("loaded").waitFor();
  expect(await opened.title()).toBe("page");
  await opened.getByRole("button").click();
  // A page of the server itself has the rights that the other one lacks, and sees that nothing was done.
  await opened.goto(`${server.server.url!}/console/`);
  const listed: unknown = await opened.evaluate(`fetch("${maps}").then((answer) => answer.text())`);
  expect(listed).toContain("ConfigMapList");
  expect(listed).not.toMatch(/"name":"(?:script|form)"/);
  const workers: unknown = await opened.evaluate(
    "navigator.serviceWorker.getRegistrations().then(({ length }) => length)",
  );
  expect(workers).toBe(0);
  expect(requested.filter((url) => url.endsWith("worker.js"))).toEqual([]);
});
