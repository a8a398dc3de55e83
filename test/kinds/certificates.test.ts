import { describe, expect, it } from "vitest";
import { CertificateSigningRequest } from "../../src/kinds/certificates/certificate-signing-request.ts";
import type { PartSubresource } from "../../src/schema/kind.ts";
import { signCertificate } from "../../src/base/certificates/x509.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { certificateRequest, newKeys } from "../support/certificate-request.ts";
import type { Part } from "./pod-support.ts";
import { cellsOf, judgeNew, judgeUpdate, readAs } from "./support.ts";

const short = (faults: readonly string[]) => faults.map((fault) => fault.replace("FieldValue", ""));
const base64 = (text: string) => Buffer.from(text).toString("base64");

const keys = newKeys();
const smallest = {
  request: base64(certificateRequest("alice", keys)),
  usages: ["client auth"],
  signerName: "example.com/mine",
};
const withSpec = (part: Part): Part => ({ spec: { ...smallest, ...part } });
const certificate = base64(
  signCertificate(
    { commonName: "alice", use: "client", notBefore: 0, notAfter: 1e12 },
    keys.publicKey,
    keys.privateKey,
  ),
);
const condition = (type: string, status = "True"): Part => ({ type, status });

describe("CertificateSigningRequest", () => {
  it("is cluster-scoped and valid with a minimal spec", () => {
    expect(CertificateSigningRequest.scope).toBe("Cluster");
    expect(judgeNew(CertificateSigningRequest, withSpec({}))).toMatchObject({
      faults: [],
      object: { spec: smallest, status: {} },
    });
  });

  it("records the creating user and ignores user fields in the request", () => {
    const said = { username: "root", uid: "0", groups: ["system:masters"], extra: { a: ["b"] } };
    const user = { name: "alice", uid: "u", groups: ["g"], extra: { scopes: ["x"] } };
    const context = { vocabulary: platform, enabled: () => false, subresource: "" };
    const object = readAs(CertificateSigningRequest, withSpec(said));
    CertificateSigningRequest.prepareCreate?.(object, { ...context, user });
    expect(object["spec"]).toEqual({
      ...smallest,
      username: "alice",
      uid: "u",
      groups: ["g"],
      extra: { scopes: ["x"] },
    });
    CertificateSigningRequest.prepareCreate?.(object, {
      ...context,
      user: { name: "bob", uid: "", groups: [], extra: {} },
    });
    expect(object["spec"]).toEqual({ ...smallest, username: "bob" });
  });

  it.each([
    ["a missing request", { request: undefined }, ["spec.request: Invalid"]],
    ["a request that is not PEM", { request: base64("hello") }, ["spec.request: Invalid"]],
    [
      "a request that another key signed",
      { request: base64(certificateRequest("alice", keys, { signer: newKeys().privateKey })) },
      ["spec.request: Invalid"],
    ],
    ["empty usages", { usages: [] }, ["spec.usages: Required"]],
    ["an unknown usage", { usages: ["flying"] }, ["spec.usages[0]: NotSupported"]],
    ["a duplicate usage", { usages: ["signing", "signing"] }, ["spec.usages[1]: Duplicate"]],
    ["an empty signerName", { signerName: "" }, ["spec.signerName: Required"]],
    ["a signerName without a path", { signerName: "example.com" }, ["spec.signerName: Invalid"]],
    ["a signerName with two slashes", { signerName: "example.com/a/b" }, ["spec.signerName: Invalid"]],
    ["a signerName whose domain has one label", { signerName: "example/a" }, ["spec.signerName: Invalid"]],
    ["a signerName with a malformed domain", { signerName: "Example.com/a" }, ["spec.signerName: Invalid"]],
    ["a signerName with a malformed path", { signerName: "example.com/A" }, ["spec.signerName: Invalid"]],
    [
      "the signerName legacy-unknown",
      { signerName: "platform.io/legacy-unknown" },
      ["spec.signerName: Invalid"],
    ],
    ["expirationSeconds below 600", { expirationSeconds: 599 }, ["spec.expirationSeconds: Invalid"]],
  ])("rejects %s", (_title, part, faults) => {
    expect(short(judgeNew(CertificateSigningRequest, withSpec(part)).faults)).toEqual(faults);
  });

  it("spec is immutable", () => {
    const { object, faults } = judgeUpdate(
      CertificateSigningRequest,
      withSpec({}),
      withSpec({ usages: ["any"] }),
    );
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual(smallest);
  });

  /** Writes `now` through a subresource of a request with the status `before`; returns the object and the errors. */
  function write(subresource: "approval" | "status", before: Part, now: Part) {
    const context = { vocabulary: platform, enabled: () => false, subresource, now: Date.UTC(2024, 0, 1) };
    const part = CertificateSigningRequest.subresources[subresource] as PartSubresource;
    const live = readAs(CertificateSigningRequest, { ...withSpec({}), status: before });
    const copy = structuredClone(live);
    part.merge(
      copy,
      readAs(CertificateSigningRequest, { ...withSpec({ usages: ["any"] }), status: now }),
      context,
    );
    return { ...judged(copy, live, subresource), object: copy };
  }

  function judged(now: object, live: object, subresource: string) {
    const faults: string[] = [];
    const place = (path: string): object => ({
      at: (name: string) => place(`${path}${path === "" ? "" : "."}${name}`),
      forbidden: (message: string) => faults.push(`${path}: ${message}`),
    });
    CertificateSigningRequest.validateUpdate?.(now as never, live as never, place("") as never, {
      vocabulary: platform,
      enabled: () => false,
      subresource,
    });
    return { faults };
  }

  const stamped = (type: string): Part => ({
    ...condition(type),
    lastUpdateTime: "2024-01-01T00:00:00Z",
    lastTransitionTime: "2024-01-01T00:00:00Z",
  });

  it("is approved through the approval subresource, which sets the condition times", () => {
    const { object, faults } = write(
      "approval",
      { certificate },
      { conditions: [condition("Approved")], certificate: "AAAA" },
    );
    expect(faults).toEqual([]);
    expect(object).toMatchObject({
      spec: smallest,
      status: { certificate, conditions: [stamped("Approved")] },
    });
  });

  it("gets its certificate once through the status subresource", () => {
    const approved = { conditions: [stamped("Approved")] };
    const { object, faults } = write("status", approved, { ...approved, certificate });
    expect(faults).toEqual([]);
    expect(object).toMatchObject({ spec: smallest, status: { ...approved, certificate } });
    expect(
      write("status", { ...approved, certificate }, { ...approved, certificate: "AAAA" }).faults,
    ).toEqual(["status.certificate: updates may not modify existing certificate content"]);
    expect(
      write("status", approved, { conditions: [stamped("Approved"), condition("Failed")] }).faults,
    ).toEqual([]);
  });

  it("can't be approved through the status, and its decisions can't be removed or changed", () => {
    expect(write("status", {}, { conditions: [condition("Approved")] }).faults).toEqual([
      'status.conditions: updates may not add a condition of type "Approved"',
    ]);
    expect(write("approval", { conditions: [stamped("Denied")] }, { conditions: [] }).faults).toEqual([
      'status.conditions: updates may not remove a condition of type "Denied"',
    ]);
    const other = { ...stamped("Approved"), reason: "Other" };
    expect(write("status", { conditions: [stamped("Approved")] }, { conditions: [other] }).faults).toEqual([
      'status.conditions: updates may not modify a condition of type "Approved"',
    ]);
  });

  it("allows the approval subresource to change the condition Approved, and the status to change Failed", () => {
    const explained = (type: string) => ({ ...stamped(type), reason: "Other" });
    const faults = (subresource: "approval" | "status", type: string) =>
      write(subresource, { conditions: [stamped(type)] }, { conditions: [explained(type)] }).faults;
    expect([faults("approval", "Approved"), faults("status", "Failed")]).toEqual([[], []]);
    expect(faults("approval", "Failed")).toEqual([
      'status.conditions: updates may not modify a condition of type "Failed"',
    ]);
  });

  it("keeps the time at which a condition's status changed", () => {
    const before = { ...stamped("Ready"), lastTransitionTime: "2023-01-01T00:00:00Z" };
    const { object } = write("status", { conditions: [before] }, { conditions: [condition("Ready")] });
    expect(object["status"]).toHaveProperty("conditions.0.lastTransitionTime", "2023-01-01T00:00:00Z");
  });

  it.each([
    ["no type", { conditions: [condition("")] }, ["status.conditions[0].type: Required"]],
    ["no status", { conditions: [condition("Failed", "")] }, ["status.conditions[0].status: Required"]],
    [
      "an unknown condition status",
      { conditions: [condition("Failed", "Maybe")] },
      ["status.conditions[0].status: NotSupported"],
    ],
    [
      "condition Failed with status False",
      { conditions: [condition("Failed", "False")] },
      ["status.conditions[0].status: NotSupported"],
    ],
    [
      "a duplicate condition type",
      { conditions: [condition("Failed"), condition("Failed")] },
      ["status.conditions[1].type: Duplicate"],
    ],
    [
      "both Approved and Denied",
      { conditions: [condition("Approved"), condition("Denied")] },
      // Nor may a status contain what the subresource approval decides.
      ["status.conditions: Forbidden", "status.conditions: Forbidden", "status.conditions[1].type: Invalid"],
    ],
    ["a certificate that is not PEM", { certificate: base64("hello") }, ["status.certificate: Invalid"]],
    [
      "an unknown condition type",
      { conditions: [condition("Ready")] },
      ["status.conditions[0].type: NotSupported"],
    ],
  ])("rejects a status with %s", (_title, status, faults) => {
    const judged = judgeUpdate(
      CertificateSigningRequest,
      withSpec({}),
      { ...withSpec({}), status },
      { subresource: "status" },
    );
    expect(short(judged.faults)).toEqual(faults);
  });

  it("supports the field selector spec.signerName and no other one", () => {
    const { selectable } = CertificateSigningRequest;
    const selected = (part: Part) =>
      Object.entries(selectable).map(([field, read]) => [
        field,
        read(readAs(CertificateSigningRequest, withSpec(part))),
      ]);
    for (const signerName of ["example.com/mine", "example.com/other"])
      expect(selected({ signerName, username: "alice" })).toEqual([["spec.signerName", signerName]]);
  });

  it("shows its table cells", () => {
    const row = (status: Part, spec: Part = {}) =>
      cellsOf(CertificateSigningRequest, { ...withSpec({ username: "alice", ...spec }), status });
    expect(row({}, { expirationSeconds: 3600 })).toEqual({
      Name: "one",
      Age: "<unknown>",
      SignerName: "example.com/mine",
      Requestor: "alice",
      RequestedDuration: "60m",
      Condition: "Pending",
    });
    expect(row({ conditions: [condition("Approved")], certificate })).toMatchObject({
      RequestedDuration: "<none>",
      Condition: "Approved,Issued",
    });
    expect(row({ conditions: [condition("Denied"), condition("Failed")] })["Condition"]).toBe(
      "Denied,Failed",
    );
  });
});
