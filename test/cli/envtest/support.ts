import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  createAuthority,
  createServingCertificates,
  issueClientCertificate,
} from "../../../src/base/certificates/serving-certificates.ts";
import type { CertificatePair } from "../../../src/base/certificates/x509.ts";
import { systemClock } from "../../../src/base/time/clock.ts";
import { Api } from "../../support/api.ts";
import { freePort, plinth } from "../../support/process.ts";

/** Writes an assets folder, with flags of `plinth envtest`; returns its path. */
export function install(folder: string, ...words: readonly string[]): string {
  const { code, stdout, stderr } = plinth("envtest", `--install=${folder}`, ...words);
  if (code !== 0) throw new Error(stderr);
  return stdout.trimEnd();
}

/** A program of an assets folder that runs. */
export class AssetProcess {
  private log = "";
  private constructor(readonly child: ChildProcess) {
    child.stderr?.on("data", (part) => (this.log += String(part)));
  }

  static start(file: string, words: readonly string[], env: Record<string, string> = {}): AssetProcess {
    return new AssetProcess(
      spawn(file, words, { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...env } }),
    );
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Repeats a request until it succeeds, as envtest does; fails if the program ends before. */
  async untilHealthy(isHealthy: () => Promise<boolean>): Promise<void> {
    while (!(await isHealthy().catch(() => false))) {
      if (this.hasEnded) throw new Error(`the program ended: ${this.log}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Stops it as envtest does; gives the exit code. */
  async stop(): Promise<number | null> {
    if (this.hasEnded) return this.child.exitCode;
    this.child.kill("SIGTERM");
    await once(this.child, "exit");
    return this.child.exitCode;
  }
}

/** What envtest prepares for a kube-apiserver. */
export interface ControlPlane {
  readonly port: number;
  /** The flags of a current envtest, by name; a value is a list, as a flag may be repeated. */
  readonly flags: Record<string, readonly string[]>;
  readonly certificates: string;
  readonly servingCa: string;
  readonly clientCa: CertificatePair;
}

/** Creates the certificates and flags with which envtest starts a kube-apiserver. */
export async function prepareControlPlane(folder: string): Promise<ControlPlane> {
  const [port, etcdPort] = [await freePort(), await freePort()];
  const certificates = path.join(folder, `k8s_test_framework_${port}`);
  mkdirSync(certificates);
  const write = (name: string, text: string) => {
    const file = path.join(certificates, name);
    writeFileSync(file, text, { mode: 0o640 });
    return file;
  };
  const { caCertificate, serving } = createServingCertificates(["localhost", "127.0.0.1"], systemClock);
  write("apiserver.crt", serving.certificate);
  write("apiserver.key", serving.key);
  const [signer, clientCa] = [createAuthority(), createAuthority()];
  const flags = {
    "allow-privileged": ["true"],
    "authorization-mode": ["RBAC"],
    "bind-address": ["127.0.0.1"],
    "cert-dir": [certificates],
    "client-ca-file": [write("client-cert-auth-ca.crt", clientCa.certificate)],
    "disable-admission-plugins": ["ServiceAccount"],
    "etcd-servers": [`http://127.0.0.1:${etcdPort}`],
    "secure-port": [String(port)],
    "service-account-issuer": [`https://127.0.0.1:${port}/`],
    "service-account-key-file": [write("sa-signer.crt", signer.certificate)],
    "service-account-signing-key-file": [write("sa-signer.key", signer.key)],
    "service-cluster-ip-range": ["10.0.0.0/24"],
  };
  return { port, flags, certificates, servingCa: caCertificate, clientCa };
}

/** Returns the words of a command line as envtest writes them. */
export function wordsOf(flags: ControlPlane["flags"]): string[] {
  return Object.entries(flags).flatMap(([name, values]) => values.map((value) => `--${name}=${value}`));
}

/** A client with a certificate that envtest issues; with another CA if one is given. */
export function clientOf(
  plane: ControlPlane,
  name: string,
  groups: readonly string[],
  ca = plane.clientCa,
): Api {
  const facts = { commonName: name, organizations: groups, days: 7 };
  const { certificate: cert, key } = issueClientCertificate(ca, facts, systemClock);
  return new Api(`https://127.0.0.1:${plane.port}`, plane.servingCa, undefined, { cert, key });
}

/** A client without credentials. */
export function anonymous(plane: ControlPlane): Api {
  return new Api(`https://127.0.0.1:${plane.port}`, plane.servingCa, undefined);
}
