import { describe, expect, test } from "vitest";
import { portOf, RawConnection } from "../robustness/support.ts";
import { pods, upgrade, useStreamingPods } from "./connect-upgrades-support.ts";

const { server, streams, send } = useStreamingPods();

describe("exec, attach and portforward of a pod", () => {
  const asked = async (line: string, headers?: readonly string[]) => {
    const connection = await send(line, headers);
    await connection.receives(/hello [^\n]*\n/);
    connection.destroy();
    return streams.agent.requests.at(-1)!;
  };

  test.each([
    [
      "exec?command=ls&command=-l+/&stdin=true&stdout=1&stderr=true&tty=true",
      "/exec/default/pod/main?command=ls&command=-l+%2F&error=1&input=1&output=1&tty=1",
    ],
    ["exec?command=a%26b&stdout=false&stdin=0", "/exec/default/pod/main?command=a%26b"],
    ["exec?container=main&x=y", "/exec/default/pod/main"],
    ["attach?stdin=true&tty=true&command=ls", "/attach/default/pod/main?input=1&tty=1"],
    ["attach/", "/attach/default/pod/main"],
    ["portforward", "/portForward/default/pod"],
    ["portforward?ports=80,81&ports=65535", "/portForward/default/pod?port=80%2C81%2C65535"],
  ])("%s requests %s of the agent", async (rest, url) => {
    for (const method of ["POST", "GET"]) {
      const request = await asked(`${method} ${pods}/pod/${rest}`, [
        ...upgrade,
        "X-Stream-Protocol-Version: v4",
      ]);
      expect([request.method, request.url]).toEqual([method, url]);
      expect(request.headers).toMatchObject({ "x-stream-protocol-version": "v4", upgrade: "SPDY/3.1" });
      expect(request.headers.authorization).toBeUndefined();
    }
  });

  test("the agent's upgrade response is forwarded with its headers", async () => {
    const connection = await send(`POST ${pods}/pod/exec?command=ls`, [
      ...upgrade,
      "Content-Length: 0",
      "X-Stream-Protocol-Version: v4",
    ]);
    expect(await connection.receives(/hello/)).toMatch(/\r\nx-protocol: v4\r\n/i);
    connection.destroy();
  });

  test.each([
    ["two/exec?command=ls", "a container name must be specified for pod two, choose one of: [a b]"],
    ["two/attach?container=c", "container c is not valid for pod two"],
    ["waiting/exec?command=ls", "pod waiting does not have a host assigned"],
    ["waiting/attach", "pod waiting does not have a host assigned"],
    ["waiting/portforward", "pod waiting does not have a host assigned"],
    ["pod/portforward?ports=x", 'parameter ports: "x" is not a port number'],
    ["pod/portforward?ports=80,", 'parameter ports: "" is not a port number'],
    ["pod/portforward?ports=65536", 'parameter ports: "65536" is not a port number'],
  ])("%s is 400: %s", async (rest, message) => {
    const text = await (await send(`POST ${pods}/${rest}`)).closes();
    expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(JSON.parse(text.split("\r\n\r\n")[1]!)).toMatchObject({ reason: "BadRequest", message });
  });

  test.each(["exec?command=ls", "attach", "portforward"])("%s without an upgrade is 400", async (rest) => {
    const { status, body } = await server.admin.post(`${pods}/pod/${rest}`, undefined);
    expect([status, body.message]).toEqual([400, "Upgrade request required"]);
  });

  test("an upgrade request for a log gets a plain response", async () => {
    const text = await (await send(`GET ${pods}/pod/log`)).closes();
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*plain \/containerLogs\/default\/pod\/main/);
  });

  test("a user without permission for the verb is rejected before the agent is contacted", async () => {
    const before = streams.agent.requests.length;
    const as = async (user: string, line: string, ...more: string[]) => {
      const connection = await RawConnection.open(portOf(server));
      const lines = [`${line} HTTP/1.1`, "Host: x", ...upgrade, ...more];
      if (user !== "") lines.push(`Authorization: Bearer ${user}`);
      connection.write(`${lines.join("\r\n")}\r\n\r\n`);
      const text = await connection.receives(/\r\n\r\n/);
      connection.destroy();
      return Number(text.split(" ")[1]);
    };
    const exec = `${pods}/pod/exec?command=ls`;
    expect(await as("watcher", `POST ${exec}`)).toBe(403);
    expect(await as("runner", `GET ${exec}`)).toBe(403);
    expect(await as("runner", `POST ${pods}/pod/attach`)).toBe(403);
    expect(await as("nobody", `POST ${exec}`)).toBe(401);
    expect(await as("runner", `POST ${exec}`, "Impersonate-User: ana")).toBe(403);
    expect(streams.agent.requests.length).toBe(before);
    expect(await as("runner", `POST ${exec}`)).toBe(101);
    expect(await as("watcher", `GET ${exec}`)).toBe(101);
  });
});
