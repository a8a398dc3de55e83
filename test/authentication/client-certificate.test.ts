import { describe, expect, it } from "vitest";
import { ClientCertificateAuthenticator } from "../../src/authentication/client-certificate.ts";
import { certificate, request, stoppedClock } from "./support.ts";

const clientAuth = "1.3.6.1.5.5.7.3.2";
const serverAuth = "1.3.6.1.5.5.7.3.1";
const midYear = "2030-06-01T00:00:00Z";

describe("client certificates", () => {
  it("C-5.1-02 C-5.1-03 common name is the user, each organization a group", async () => {
    const der = await certificate(
      [{ CN: ["alice"] }, { O: ["dev"] }, { O: ["ops, east"] }, { OU: ["unit"] }],
      [clientAuth],
    );
    const result = new ClientCertificateAuthenticator(stoppedClock(midYear)).authenticate(
      request({ certificate: der }),
    );
    expect(result).toEqual({
      user: { name: "alice", uid: "", groups: ["dev", "ops, east"], extra: {} },
      method: "client-certificate",
      cacheable: false,
    });
  });

  it("C-5.1-03 organizations in one multi-valued part of the subject", async () => {
    const der = await certificate([{ CN: ["system:node:a"], O: ["x", "y"] }]);
    const result = new ClientCertificateAuthenticator(stoppedClock(midYear)).authenticate(
      request({ certificate: der }),
    );
    expect(result?.user).toMatchObject({ name: "system:node:a", groups: ["x", "y"] });
  });

  it("C-5.1-03 no organization, no group; no common name, no user; no certificate, no answer", async () => {
    const method = new ClientCertificateAuthenticator(stoppedClock(midYear));
    expect(
      method.authenticate(request({ certificate: await certificate([{ CN: ["bob"] }]) }))?.user.groups,
    ).toEqual([]);
    expect(
      method.authenticate(request({ certificate: await certificate([{ O: ["dev"] }]) })),
    ).toBeUndefined();
    expect(method.authenticate(request({}))).toBeUndefined();
  });

  it("C-5.1-02 a chain that wasn't verified is refused", () => {
    const method = new ClientCertificateAuthenticator(stoppedClock(midYear));
    const refused = () => method.authenticate(request({ certificateError: "SELF_SIGNED_CERT_IN_CHAIN" }));
    expect(refused).toThrow(
      expect.objectContaining({ code: 401, message: expect.stringContaining("SELF_SIGNED") }),
    );
  });

  it("C-5.1-02 validity is looked at on every request", async () => {
    const clock = stoppedClock("2029-12-31T00:00:00Z");
    const method = new ClientCertificateAuthenticator(clock);
    const credentials = request({ certificate: await certificate([{ CN: ["alice"] }]) });
    expect(() => method.authenticate(credentials)).toThrow("not valid yet");
    clock.set(midYear);
    expect(method.authenticate(credentials)?.user.name).toBe("alice");
    clock.set("2031-01-01T00:00:01Z");
    expect(() => method.authenticate(credentials)).toThrow(expect.objectContaining({ code: 401 }));
  });

  it.each([
    ["none named", undefined, true],
    ["client auth", [clientAuth], true],
    ["any", ["2.5.29.37.0"], true],
    ["server auth only", [serverAuth], false],
  ])("C-5.1-02 key usage: %s", async (_what, usages, accepted) => {
    const method = new ClientCertificateAuthenticator(stoppedClock(midYear));
    const credentials = request({ certificate: await certificate([{ CN: ["alice"] }], usages) });
    if (accepted) expect(method.authenticate(credentials)?.user.name).toBe("alice");
    else expect(() => method.authenticate(credentials)).toThrow("client auth");
  });

  it("C-5.1-02 what can't be read is refused", () => {
    const method = new ClientCertificateAuthenticator(stoppedClock(midYear));
    expect(() => method.authenticate(request({ certificate: Buffer.from("x") }))).toThrow(
      expect.objectContaining({ code: 401 }),
    );
  });
});
