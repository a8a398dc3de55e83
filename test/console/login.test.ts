import { describe, expect, it } from "vitest";
import { LoginCodes } from "../../src/authentication/console/login-codes.ts";
import { grant } from "../api/support.ts";
import { storeOf } from "../support/api.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { useServer } from "../support/use-server.ts";

const clock = new ManualClock();
const server = useServer({
  console: true,
  clock,
  users: [{ name: "root", groups: ["system:masters"] }, { name: "ann", groups: ["team"] }, { name: "bob" }],
});

const newCode = async (client = server.admin) => {
  const { status, body } = await client.post("/console/codes", {});
  expect(status).toBe(201);
  return body as { code: string; lifeSeconds: number };
};
const redeem = (code: string) => server.as(code).ask("POST", "/console/sessions");
const newSession = async () => {
  const { status, body } = await redeem((await newCode()).code);
  expect(status).toBe(201);
  return (body as { token: string }).token;
};

describe("a one-time code", () => {
  it("has 256 random bits, and opens one session with the identity of its creator", async () => {
    const { code, lifeSeconds } = await newCode(server.as("root"));
    expect(Buffer.from(code, "base64url")).toHaveLength(32);
    expect(lifeSeconds).toBe(60);
    const { status, body } = await redeem(code);
    expect(status).toBe(201);
    const client = server.as((body as { token: string }).token);
    expect((await client.get("/api/v1/secrets")).status).toBe(200);
    expect((await redeem(code)).status).toBe(401);
  });

  it("is redeemed once by requests that arrive together", async () => {
    const { code } = await newCode();
    const answers = await Promise.all(Array.from({ length: 8 }, () => redeem(code)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      201,
      ...Array.from({ length: 7 }, () => 401),
    ]);
  });

  it("is redeemed by another process of the server", async () => {
    const { code } = await newCode();
    const other = new LoginCodes(storeOf(server), clock);
    expect(await other.redeem(code)).toMatchObject({ name: "admin" });
    expect((await redeem(code)).status).toBe(401);
  });

  it("is invalid after a minute", async () => {
    const { code } = await newCode();
    await clock.advance(60_000);
    expect((await redeem(code)).status).toBe(401);
  });

  it("of the server's own address is valid for the requested time, for the administrator", async () => {
    const code = async () => (await server.server.consoleUrl(300_000))!.split("#code=")[1]!;
    const [first, second] = [await code(), await code()];
    await clock.advance(299_999);
    const { status, body } = await redeem(first);
    expect(status).toBe(201);
    expect((await server.as((body as { token: string }).token).get("/api/v1/secrets")).status).toBe(200);
    await clock.advance(1);
    expect((await redeem(second)).status).toBe(401);
    expect(await server.server.consoleUrl()).toBe(`${server.server.url}/console/`);
  });

  it("isn't in the store: only its digest is", async () => {
    const { code } = await newCode();
    const { entries } = await storeOf(server).range({ prefix: "/core/console-logins/" });
    const text = entries.map(({ key, body }) => key + Buffer.from(body).toString()).join("\n");
    expect(text).not.toBe("");
    expect(text).not.toContain(code);
    await redeem(code);
  });

  it("is no bearer token, and texts that aren't codes are refused", async () => {
    const { code } = await newCode();
    expect((await server.as(code).get("/api")).status).toBe(401);
    for (const text of ["", "x", "a".repeat(43), "a".repeat(5000)])
      expect((await redeem(text)).status).toBe(401);
    expect((await server.as(undefined).ask("POST", "/console/sessions")).status).toBe(401);
  });

  it("can't be created without rights, by other users, impersonated administrators and sessions", async () => {
    const session = server.as(await newSession());
    // The right to the path isn't enough.
    await grant(server.admin, "bob", [{ verbs: ["post"], nonResourceURLs: ["/console/*"] }]);
    const headers = { "impersonate-user": "root", "impersonate-group": "system:masters" };
    const answers = [
      await server.as(undefined).post("/console/codes", {}),
      await server.as("ann").post("/console/codes", {}),
      await server.as("bob").post("/console/codes", {}),
      await server.admin.post("/console/codes", {}, { headers }),
      await session.post("/console/codes", {}),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    expect((await server.admin.get("/console/codes")).status).toBe(404);
  });

  it("is refused when 32 are unused, until they expire", async () => {
    await clock.advance(60_000);
    for (let count = 0; count < 32; count++) await newCode();
    const { status, body } = await server.admin.post("/console/codes", {});
    expect(status).toBe(429);
    expect(body.message).toBe("there are 32 unused codes; each expires after some minutes");
    await clock.advance(60_000);
    await newCode();
    const { entries } = await storeOf(server).range({ prefix: "/core/console-logins/" });
    expect(entries).toHaveLength(1);
  });
});

describe("a token of a session", () => {
  it("expires after an hour", async () => {
    const token = await newSession();
    await clock.advance(59 * 60_000);
    expect((await server.as(token).get("/api")).status).toBe(200);
    await clock.advance(60_000);
    expect((await server.as(token).get("/api")).status).toBe(401);
  });

  it("is invalid when any part of it is changed", async () => {
    const token = await newSession();
    const [start, text, code] = token.split(".") as [string, string, string];
    const claims = JSON.parse(Buffer.from(text, "base64url").toString()) as object;
    const longer = Buffer.from(JSON.stringify({ ...claims, expires: 9e15 })).toString("base64url");
    const changed = [
      `${start}.${longer}.${code}`,
      `${start}.${text}.${code.slice(0, -2)}AA`,
      `${start}.${text}.`,
      `${start}.${text}`,
      `${start}..${code}`,
      `${start}.${text}.${code}.`,
      "console.",
      `console.${"a".repeat(20_000)}`,
    ];
    for (const one of changed) expect((await server.as(one).get("/api")).status).toBe(401);
  });

  it("isn't accepted by a token review for other audiences", async () => {
    const path = "/apis/authentication.platform.io/v1/tokenreviews";
    const token = await newSession();
    const review = async (audiences: readonly string[]) =>
      (await server.admin.post(path, { spec: { token, audiences } })).body.status.authenticated as unknown;
    expect(await review(["elsewhere"])).toBeFalsy();
  });
});

describe("the name of the signed-in user", () => {
  it("is told to every authenticated user with their groups, and to nobody else", async () => {
    const user = (token: string | undefined) => server.as(token).get("/console/user");
    expect((await user("ann")).body).toEqual({ name: "ann", groups: ["team", "system:authenticated"] });
    expect((await user("bob")).body).toEqual({ name: "bob", groups: ["system:authenticated"] });
    expect((await user("root")).body).toMatchObject({ name: "root" });
    expect((await user(undefined)).status).toBe(403);
    expect((await user("wrong")).status).toBe(401);
    expect((await server.as(undefined).post("/console/user", {})).status).toBe(403);
  });

  it("is that of an impersonated user, with the name of the caller beside it", async () => {
    const headers = { "impersonate-user": "cleo", "impersonate-group": "shop" };
    const { body } = await server.as("root").get("/console/user", { headers });
    expect(body).toEqual({
      name: "cleo",
      groups: ["shop", "system:authenticated"],
      impersonatedBy: { name: "root", groups: ["system:masters", "system:authenticated"] },
    });
    expect((await server.as("bob").get("/console/user", { headers })).status).toBe(403);
  });
});
