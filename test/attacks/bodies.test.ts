import { constants } from "node:http2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { configMap, ok, settle, until } from "../api/support.ts";
import { answerOf, http2Session } from "../robustness/support.ts";
import { Witness } from "./witness.ts";

const path = "/api/v1/namespaces/default/configmaps";
let witness: Witness;
beforeAll(async () => {
  witness = await Witness.start();
});
afterAll(() => witness.close());

describe("an HTTP/2 body during authorization", () => {
  test("that is empty and ends without data is read as empty immediately", async () => {
    expect((await witness.http2("POST", path)).status).toBe(400);
    const session = http2Session(witness.server);
    const stream = session.request(
      { ":method": "DELETE", ":path": path, authorization: `Bearer ${Witness.user}` },
      { endStream: false },
    );
    stream.end();
    expect((await answerOf(stream)).status).toBe(200);
    session.close();
  });

  test.each([
    ["before any of it came", ""],
    ["in the middle", "preconditions:\n"],
  ])("that is aborted %s changes nothing", async (_when, part) => {
    await ok(witness.server.admin.post(path, configMap("kept")));
    const session = http2Session(witness.server);
    const stream = session.request(
      {
        ":method": "DELETE",
        ":path": `${path}/kept`,
        authorization: `Bearer ${Witness.user}`,
        "content-type": "application/yaml",
      },
      { endStream: false },
    );
    stream.on("error", () => undefined);
    if (part !== "") stream.write(part);
    // The stream is reset while authorization is pending.
    await until(
      () => witness.questions(),
      (asked) => asked.length > 0,
    );
    stream.close(constants.NGHTTP2_CANCEL);
    // Requests on the same connection are read after the reset.
    const next = session.request({ ":path": "/version", authorization: `Bearer ${Witness.user}` });
    await answerOf(next);
    await settle();
    expect((await witness.server.admin.get(`${path}/kept`)).status).toBe(200);
    await ok(witness.server.admin.delete(`${path}/kept`));
    session.close();
  });

  test("a YAML document whose end is missing is not stored", async () => {
    const session = http2Session(witness.server);
    const stream = session.request(
      {
        ":method": "POST",
        ":path": path,
        authorization: `Bearer ${Witness.user}`,
        "content-type": "application/yaml",
      },
      { endStream: false },
    );
    stream.on("error", () => undefined);
    stream.write("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: half\ndata:\n  limit: 1");
    await until(
      () => witness.questions(),
      (asked) => asked.length > 0,
    );
    stream.close(constants.NGHTTP2_CANCEL);
    await answerOf(session.request({ ":path": "/version", authorization: `Bearer ${Witness.user}` }));
    await settle();
    expect((await witness.server.admin.get(`${path}/half`)).status).toBe(404);
    session.close();
  });
});
