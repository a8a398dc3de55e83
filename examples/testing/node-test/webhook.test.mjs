// Tests of an admission webhook with the test runner of Node. The server calls the webhook over TLS, as in a cluster.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpsServer } from "node:https";
import { after, before, test } from "node:test";
import { createServer, createTestCertificate, StatusError } from "plinth";

/** The webhook under test: titles of sites must not shout. */
function review({ request }) {
  const { title } = request.object.spec;
  const allowed = title !== title.toUpperCase();
  return { uid: request.uid, allowed, status: { code: 422, message: `the title ${title} shouts` } };
}

async function answer(request, response) {
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ apiVersion: body.apiVersion, kind: body.kind, response: review(body) }));
}

let server, webhook;
before(async () => {
  const { cert, key, ca } = createTestCertificate(["127.0.0.1"]);
  webhook = createHttpsServer({ cert, key }, (request, response) => {
    answer(request, response).catch((error) => response.destroy(error));
  });
  webhook.listen(0, "127.0.0.1");
  await once(webhook, "listening");

  server = await createServer({ vocabulary: "kubernetes", port: false });
  await server.load(new URL("../manifests", import.meta.url).pathname);
  await server.client.apply({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "quiet-titles" },
    webhooks: [
      {
        name: "quiet-titles.example.com",
        rules: [
          {
            apiGroups: ["example.com"],
            apiVersions: ["v1"],
            operations: ["CREATE", "UPDATE"],
            resources: ["sites"],
          },
        ],
        clientConfig: {
          url: `https://127.0.0.1:${webhook.address().port}`,
          caBundle: Buffer.from(ca).toString("base64"),
        },
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
      },
    ],
  });
});
after(async () => {
  await server.close();
  webhook.close();
});

const tea = { apiVersion: "example.com/v1", kind: "Site", name: "tea", namespace: "shop" };
const rename = (title) => server.client.patch(tea, { spec: { title } });

test("a quiet title is accepted", async () => {
  const { apiVersion, kind, name, namespace } = tea;
  const created = await server.client.create({
    apiVersion,
    kind,
    metadata: { name, namespace },
    spec: { title: "Tea" },
  });
  assert.equal(created.spec.title, "Tea");
});

test("a title that shouts is refused with the message of the webhook", async () => {
  await assert.rejects(rename("TEA"), (error) => {
    assert.ok(error instanceof StatusError);
    assert.match(
      error.message,
      /admission webhook "quiet-titles.example.com" denied the request: the title TEA shouts/,
    );
    return true;
  });
  const { spec } = await server.client.get(tea);
  assert.equal(spec.title, "Tea");
});

test("while the webhook can't be reached, writes are refused (failurePolicy: Fail)", async () => {
  webhook.close();
  webhook.closeAllConnections();
  await once(webhook, "close");
  await assert.rejects(rename("Green tea"), /failed calling webhook "quiet-titles.example.com"/);
});
