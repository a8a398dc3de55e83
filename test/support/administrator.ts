import { readFileSync } from "node:fs";
import { request } from "node:https";

interface Configuration {
  readonly clusters: readonly [
    { readonly cluster: { readonly server: string; readonly "certificate-authority-data": string } },
  ];
  readonly users: readonly [
    { readonly user: { readonly "client-certificate-data": string; readonly "client-key-data": string } },
  ];
}

/** The cluster of a client configuration that a server wrote. */
export function clusterOf(text: string): { readonly server: string; readonly ca: string } {
  const { server, "certificate-authority-data": ca } = (JSON.parse(text) as Configuration).clusters[0]
    .cluster;
  return { server, ca: decoded(ca) };
}

/**
 * Asks a server as the administrator by a file that a server wrote, with its authority and client certificate.
 *
 * @param server another server's URL; the file's own unless given.
 * @returns the status of the answer.
 */
export function readAsAdministrator(file: string, path: string, server?: string): Promise<number> {
  const text = readFileSync(file, "utf8");
  const { user } = (JSON.parse(text) as Configuration).users[0];
  const cluster = clusterOf(text);
  const options = {
    ca: cluster.ca,
    cert: decoded(user["client-certificate-data"]),
    key: decoded(user["client-key-data"]),
    agent: false,
  };
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, server ?? cluster.server), options, (answer) => {
      answer.resume().once("end", () => resolve(answer.statusCode!));
    });
    asked.once("error", reject).end();
  });
}

function decoded(text: string): string {
  return Buffer.from(text, "base64").toString("utf8");
}
