import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { writePrivateFile } from "../../base/files/private-file.ts";
import { issueClientCertificate } from "../../base/certificates/serving-certificates.ts";
import type { Serving } from "../certificates/serving.ts";
import { kubeconfig, type ClientCredentials } from "../listening/kubeconfig.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { userNamed } from "./client-guards.ts";
import type { KubeconfigOptions } from "./server-client.ts";

/** What the files need of a running server. */
export interface ServerAddress {
  readonly url: string | undefined;
  readonly caCertificate: string | undefined;
  readonly adminToken: string;
}

const certificateDays = 365;

/** Writes kubeconfig files and removes those in its temporary folder when the server stops. */
export class KubeconfigFiles {
  private folder: string | undefined;
  private count = 0;
  private isClosed = false;

  constructor(
    private readonly options: Pick<ServerOptions, "clock" | "vocabulary">,
    private readonly serving: Pick<Serving, "signingAuthority"> | undefined,
  ) {}

  /** Writes a file and returns its path; see {@link ServerTools.kubeconfigFile}. */
  write(server: ServerAddress, { user, groups, path: file }: KubeconfigOptions): string {
    if (this.isClosed) throw new Error("kubeconfigFile: the server is closed");
    if (server.url === undefined) throw new Error("kubeconfigFile: this server has no socket (port: false)");
    if (user === undefined && groups !== undefined)
      throw new TypeError("kubeconfigFile: the option groups needs the option user");
    const credentials = user === undefined ? { token: server.adminToken } : this.certificateOf(user, groups);
    const text = kubeconfig(server.url, server.caCertificate, credentials, user ?? "admin");
    const target = file ?? this.freshPath();
    writePrivateFile(target, text);
    return path.resolve(target);
  }

  /** Removes the temporary folder. */
  close(): void {
    this.isClosed = true;
    if (this.folder !== undefined) rmSync(this.folder, { recursive: true, force: true });
  }

  private certificateOf(user: string, groups: readonly string[] | undefined): ClientCredentials {
    const { clock, vocabulary } = this.options;
    // Checks the names; authentication adds the groups that it adds.
    userNamed(vocabulary, user, groups);
    const authority = this.serving?.signingAuthority;
    if (authority === undefined) {
      throw new Error(
        "kubeconfigFile: this server can't issue client certificates, because it has no certificate authority of its own " +
          "(certificateFiles); omit user for the administrator's token",
      );
    }
    const facts = { commonName: user, organizations: groups ?? [], days: certificateDays };
    return issueClientCertificate(authority, facts, clock);
  }

  private freshPath(): string {
    this.folder ??= mkdtempSync(path.join(tmpdir(), "plinth-kubeconfig-"));
    return path.join(this.folder, `${++this.count}.kubeconfig`);
  }
}
