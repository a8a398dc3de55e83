import { once } from "node:events";
import { createServer, get } from "node:https";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { createTestCertificate } from "../../src/index.ts";

it("a certificate for tests is trusted by a client that trusts its CA, for its hosts only", async () => {
  const { cert, key, ca } = createTestCertificate(["127.0.0.1", "hooks.shop.svc"]);
  const service = createServer({ cert, key }, (_request, response) => response.end("ok"));
  service.listen(0, "127.0.0.1");
  await once(service, "listening");
  const { port } = service.address() as AddressInfo;
  const statusOf = (servername: string | undefined, authority: string) =>
    new Promise((resolve) => {
      const options = {
        host: "127.0.0.1",
        port,
        ca: authority,
        agent: false,
        ...(servername && { servername }),
      };
      get(options, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).once("error", (error: NodeJS.ErrnoException) => resolve(error.code));
    });
  try {
    expect(await statusOf(undefined, ca)).toBe(200);
    expect(await statusOf("hooks.shop.svc", ca)).toBe(200);
    expect(await statusOf("other.svc", ca)).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
    const other = createTestCertificate(["127.0.0.1"]);
    expect(await statusOf(undefined, other.ca)).toBe("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
  } finally {
    service.close();
  }
});

it("a certificate for tests needs a host with a valid name", () => {
  expect(() => createTestCertificate([])).toThrow(TypeError);
  expect(() => createTestCertificate(["not a name"])).toThrow(
    /"not a name" is neither an IP address nor a DNS name/,
  );
});
