import { X509Certificate } from "node:crypto";
import { connect } from "node:tls";
import { once } from "node:events";
import { hostname } from "node:os";
import { describe, expect, it } from "vitest";
import { outsideMachineAddresses } from "../../src/base/network/ip-address.ts";
import { publicHost, servingHosts, type HostOptions } from "../../src/server/certificates/serving-hosts.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { TestServer } from "../support/api.ts";

const machine = { name: "Node-7", addresses: ["192.0.2.7", "2001:db8::7"] };
const onLoopback: HostOptions = {
  host: "127.0.0.1",
  extraHosts: [],
  advertiseAddress: undefined,
  serviceClusterIpRanges: ["10.9.0.0/16"],
  vocabulary: kubernetes,
};
const local = ["localhost", "127.0.0.1", "::1"];
const service = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "10.9.0.1"];

describe("the names of the serving certificate that the server creates", () => {
  it.each<[string, Partial<HostOptions>, readonly string[]]>([
    ["on loopback", {}, []],
    ["on another loopback address", { host: "127.0.0.2" }, ["127.0.0.2"]],
    ["with --tls-san", { extraHosts: ["api.example.com"] }, ["api.example.com"]],
    ["with --advertise-address", { advertiseAddress: "198.51.100.1" }, ["198.51.100.1"]],
    ["on all addresses", { host: "0.0.0.0" }, ["192.0.2.7", "2001:db8::7", "node-7", ...service]],
    ["on all IPv6 addresses", { host: "::" }, ["192.0.2.7", "2001:db8::7", "node-7", ...service]],
    ["on one address", { host: "192.0.2.7" }, ["192.0.2.7", "node-7", ...service]],
  ])("%s are those at which clients reach it", (_name, change, expected) => {
    expect(servingHosts({ ...onLoopback, ...change }, machine)).toEqual([...local, ...expected]);
  });

  it("leave out a host name that a certificate can't have", () => {
    const hosts = servingHosts({ ...onLoopback, host: "0.0.0.0" }, { name: "my_machine!", addresses: [] });
    expect(hosts).toEqual([...local, ...service]);
  });
});

describe("the host for clients on other machines", () => {
  it.each<[string, Partial<HostOptions>]>([
    ["192.0.2.7", { host: "0.0.0.0" }],
    ["192.0.2.8", { host: "192.0.2.8" }],
    ["198.51.100.1", { host: "0.0.0.0", advertiseAddress: "198.51.100.1" }],
    [
      "api.example.com",
      { host: "0.0.0.0", advertiseAddress: "198.51.100.1", extraHosts: ["api.example.com", "b"] },
    ],
  ])("is %s with %j", (expected, change) => {
    expect(publicHost({ ...onLoopback, ...change }, machine)).toBe(expected);
  });

  it("is localhost on a machine without addresses", () => {
    expect(publicHost({ ...onLoopback, host: "0.0.0.0" }, { name: "", addresses: [] })).toBe("localhost");
  });
});

it("a server on all addresses has a certificate for the addresses and the name of this machine", async () => {
  const server = await TestServer.start({ host: "0.0.0.0" });
  try {
    const { url, publicUrl, caCertificate, certificateHosts } = server.server;
    const port = Number(new URL(url!).port);
    expect(new URL(url!).hostname).toBe("localhost");
    expect(publicUrl).toBeDefined();
    // Some machines have a name that a certificate can't have.
    const name = hostname().toLowerCase();
    const servername = certificateHosts.includes(name) ? name : "localhost";
    const socket = connect({ port, host: "127.0.0.1", servername, ca: caCertificate });
    await once(socket, "secureConnect");
    const certificate = new X509Certificate(socket.getPeerCertificate().raw);
    for (const address of outsideMachineAddresses()) expect(certificate.checkIP(address)).toBe(address);
    socket.destroy();
  } finally {
    await server.close();
  }
});
