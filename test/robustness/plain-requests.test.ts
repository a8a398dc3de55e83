import { request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";
import { portOf } from "./support.ts";

let server: TestServer;
beforeAll(async () => void (server = await TestServer.start({})));
afterAll(() => server.close());

function plain(method: string): Promise<{ readonly status: number | undefined; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port: portOf(server), method, path: "/version" }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (part: string) => (text += part));
      answer.on("end", () => resolve({ status: answer.statusCode, text }));
    });
    asked.on("error", reject);
    asked.end();
  });
}

describe("plain HTTP on the TLS port", () => {
  test.each(["GET", "POST"])("%s is 400 with one line that mentions HTTPS", async (method) => {
    const { status, text } = await plain(method);
    expect([status, text]).toEqual([400, "This port speaks HTTPS only: begin the URL with https://\n"]);
    expect((await server.admin.get("/version")).status).toBe(200);
  });

  test("concurrent clients each get their own response", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => plain("GET")));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 400));
  });

  test("other bytes close the connection without a response", async () => {
    const text = await new Promise<string>((resolve) => {
      const socket = connect(portOf(server), "127.0.0.1", () =>
        socket.write("hello world, this is no protocol\r\n\r\n"),
      );
      let received = "";
      socket.on("data", (part) => (received += part.toString("latin1")));
      socket.on("error", () => undefined);
      socket.on("close", () => resolve(received));
    });
    expect(text).not.toContain("HTTP/");
  });
});
