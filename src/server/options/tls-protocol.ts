import { OptionsError } from "./options-error.ts";

/** The TLS versions and cipher suites that clients may use. */
export interface TlsOptions {
  /** As for `--tls-min-version`. */
  readonly minVersion: string;
  /** As for `--tls-cipher-suites`: IANA names of TLS 1.2 suites; empty for the defaults of the platform. */
  readonly cipherSuites: readonly string[];
}

/** The minimum version and the ciphers in the names of Node and OpenSSL; undefined ciphers are Node's default. */
export interface TlsProtocol {
  readonly minVersion: "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3";
  readonly ciphers: string | undefined;
}

const versions: Readonly<Record<string, TlsProtocol["minVersion"]>> = {
  VersionTLS10: "TLSv1",
  VersionTLS11: "TLSv1.1",
  VersionTLS12: "TLSv1.2",
  VersionTLS13: "TLSv1.3",
};

/** The cipher suites of TLS 1.3, which are always allowed. */
const modern = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];

/** The supported suites of TLS 1.2: OpenSSL's names by IANA name. */
const suites: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: "ECDHE-ECDSA-AES128-GCM-SHA256",
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: "ECDHE-ECDSA-AES256-GCM-SHA384",
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: "ECDHE-ECDSA-CHACHA20-POLY1305",
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-ECDSA-CHACHA20-POLY1305",
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: "ECDHE-ECDSA-AES128-SHA",
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: "ECDHE-ECDSA-AES256-SHA",
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: "ECDHE-RSA-AES128-GCM-SHA256",
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: "ECDHE-RSA-AES256-GCM-SHA384",
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: "ECDHE-RSA-CHACHA20-POLY1305",
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-RSA-CHACHA20-POLY1305",
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: "ECDHE-RSA-AES128-SHA",
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: "ECDHE-RSA-AES256-SHA",
  TLS_RSA_WITH_AES_128_GCM_SHA256: "AES128-GCM-SHA256",
  TLS_RSA_WITH_AES_256_GCM_SHA384: "AES256-GCM-SHA384",
  TLS_RSA_WITH_AES_128_CBC_SHA: "AES128-SHA",
  TLS_RSA_WITH_AES_256_CBC_SHA: "AES256-SHA",
};

/**
 * Converts the TLS options to those of Node.
 *
 * @throws {OptionsError} an unknown version or suite.
 */
export function tlsProtocol({ minVersion, cipherSuites }: TlsOptions): TlsProtocol {
  const version = known("--tls-min-version", versions, minVersion);
  const chosen = cipherSuites.filter((name) => !modern.includes(name));
  const ciphers = chosen.map((name) => known("--tls-cipher-suites", suites, name, modern));
  return {
    minVersion: version,
    ciphers: cipherSuites.length === 0 ? undefined : [...modern, ...ciphers].join(":"),
  };
}

function known<T>(
  flag: string,
  values: Readonly<Record<string, T>>,
  name: string,
  further: readonly string[] = [],
): T {
  const found = Object.hasOwn(values, name) ? values[name] : undefined;
  if (found !== undefined) return found;
  const names = [...Object.keys(values), ...further].join(", ");
  throw new OptionsError(`${flag}: ${JSON.stringify(name)} is not one of ${names}`);
}
