import { afterAll, beforeAll, expect, test } from "vitest";
import { AuditedServer } from "../audit/support.ts";

const idKey = "authentication.platform.io/credential-id";
let audited: AuditedServer;
beforeAll(async () => {
  audited = await AuditedServer.start("rules: [{level: Metadata}]", { console: true, release: "1.37" });
});
afterAll(() => audited.close());

/** Signs in with a code of the administrator; returns the answer and the token. */
async function signIn() {
  const { admin } = audited.api;
  const { code } = (await admin.post("/console/codes", {})).body as { code: string };
  const answer = await audited.api.as(code).ask("POST", "/console/sessions");
  expect(answer.status).toBe(201);
  return { answer, token: (answer.body as { token: string }).token };
}

/** The header with which a browser's WebSocket sends a token. */
const asProtocol = (token: string) => ({
  upgrade: "websocket",
  connection: "Upgrade",
  "sec-websocket-protocol": `base64url.bearer.authorization.platform.io.${Buffer.from(token).toString("base64url")}, x`,
});

test("a session creates no code, whichever header has its token", async () => {
  const { token } = await signIn();
  expect((await audited.api.as(token).post("/console/codes", {})).status).toBe(403);
  const anonymous = audited.api.as(undefined);
  const renewed = await anonymous.post("/console/codes", {}, { headers: asProtocol(token) });
  expect(renewed.status).toBe(403);
});

test("a sign-in leaves an audit event, whose credential id the requests of the session have", async () => {
  const { answer, token } = await signIn();
  const events = await audited.events(answer.headers["audit-id"]);
  const last = events.at(-1);
  expect([last.requestURI, last.stage, last.responseStatus.code]).toEqual([
    "/console/sessions",
    "ResponseComplete",
    201,
  ]);
  expect(last.user.username).toBe("admin");
  const [id] = last.user.extra[idKey] as [string];
  expect(id).toMatch(/^CONSOLE=[\w-]{16}$/);
  const request = await audited.api.as(token).get("/api/v1/namespaces");
  const [read] = await audited.events(request.headers["audit-id"]);
  expect(read.user.extra[idKey]).toEqual([id]);
  const own = await audited.api.admin.get("/api/v1/namespaces");
  const [administrators] = await audited.events(own.headers["audit-id"]);
  expect(administrators.user.extra?.[idKey]).not.toEqual([id]);
});
