import type { KeyObject } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll } from "vitest";
import { jwt, rsa } from "../authentication/jwt-support.ts";
import { HttpsService } from "../support/https-service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A provider of tokens on loopback, with its own key. */
class Provider {
  private readonly key: KeyObject;
  private constructor(
    readonly service: HttpsService,
    keys: { readonly privateKey: KeyObject },
  ) {
    this.key = keys.privateKey;
  }

  static async start(): Promise<Provider> {
    const keys = rsa();
    const published = [{ ...keys.publicKey.export({ format: "jwk" }), kid: "1", use: "sig", alg: "RS256" }];
    const service: HttpsService = await HttpsService.start(({ path: at }) => ({
      body: at.endsWith("configuration")
        ? { issuer: service.url, jwks_uri: `${service.url}/keys` }
        : { keys: published },
    }));
    return new Provider(service, keys);
  }

  get url(): string {
    return this.service.url;
  }

  /** A token with the claims, valid for ten minutes at a time in milliseconds since 1970. */
  token(nowMs: number, claims: object = {}): string {
    const seconds = Math.floor(nowMs / 1000);
    const usual = { iss: this.url, sub: "ann", aud: "plinth", iat: seconds, exp: seconds + 600 };
    return jwt({ alg: "RS256", kid: "1" }, { ...usual, ...claims }, this.key);
  }

  /** The issuer in a configuration. */
  issuer(more: object = {}): object {
    return { url: this.url, audiences: ["plinth"], certificateAuthority: this.service.ca, ...more };
  }
}

/** Two providers, and a configuration file. */
export function useProviders() {
  const folder = temporaryFolder();
  const file = path.join(folder.path, "authentication.json");
  const fixture = {} as { one: Provider; two: Provider };
  beforeAll(async () => {
    fixture.one = await Provider.start();
    fixture.two = await Provider.start();
  });
  afterAll(async () => {
    await fixture.one.service.close();
    await fixture.two.service.close();
    folder.remove();
  });
  const write = (content: object, header: object = {}): void => {
    const usual = { apiVersion: "apiserver.config.platform.io/v1", kind: "AuthenticationConfiguration" };
    writeFileSync(file, JSON.stringify({ ...usual, ...header, ...content }));
  };
  return { fixture, file, write };
}
