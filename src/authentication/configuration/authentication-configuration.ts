import { apiGroup } from "../../vocabulary/names.ts";
import { assertNoFaults, readConfiguration } from "../../schema/configuration.ts";
import { FieldReport } from "../../schema/faults.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { ClaimMapping } from "../oidc/oidc-tokens.ts";
import { checkMapping } from "./claim-mapping.ts";
import { AuthenticationConfiguration, type AnonymousFields, type JwtFields } from "./form.ts";
import { X509Certificate } from "node:crypto";
import { certificatesIn } from "../../base/certificates/pem.ts";

/** Maximum number of issuers. */
const maxIssuers = 64;

/** One issuer of tokens, and the users that it names. */
export interface ConfiguredJwt {
  readonly issuer: ConfiguredIssuer;
  readonly mapping: ClaimMapping;
}

/** Requests without credentials that are anonymous. */
export interface AnonymousRule {
  readonly enabled: boolean;
  /** Paths of these requests; undefined for all. */
  readonly paths: ReadonlySet<string> | undefined;
}

/** A valid configuration. */
export interface ConfiguredAuthentication {
  readonly jwt: readonly ConfiguredJwt[];
  /** Undefined if the configuration doesn't decide it. */
  readonly anonymous: AnonymousRule | undefined;
}

/**
 * Reads the file of `--authentication-config`.
 *
 * @param ownIssuers issuers of service account tokens.
 * @throws {ConfigurationError} the configuration is invalid; the message names every field.
 */
export async function readAuthenticationConfiguration(
  bytes: Uint8Array,
  vocabulary: Vocabulary,
  ownIssuers: readonly string[],
): Promise<ConfiguredAuthentication> {
  const group = apiGroup(vocabulary.groupSuffix, "apiserver.config");
  const { value } = await readConfiguration(bytes, {
    type: AuthenticationConfiguration,
    kind: "AuthenticationConfiguration",
    apiVersions: ["v1", "v1beta1", "v1alpha1"].map((version) => `${group}/${version}`),
  });
  const report = FieldReport.start();
  const { jwt = [] } = value;
  if (jwt.length > maxIssuers) report.at("jwt").tooMany(jwt.length, maxIssuers);
  const configured = jwt.slice(0, maxIssuers).map((one, index) => {
    const place = report.at("jwt", index);
    const { url = "", discoveryURL = "" } = one.issuer ?? {};
    const earlier = jwt.slice(0, index).map(({ issuer }) => issuer);
    const issuer = checkIssuer(one.issuer, ownIssuers, place.at("issuer"));
    if (url !== "" && earlier.some((other) => other?.url === url)) place.at("issuer", "url").duplicate(url);
    if (discoveryURL !== "" && earlier.some((other) => other?.discoveryURL === discoveryURL)) {
      place.at("issuer", "discoveryURL").duplicate(discoveryURL);
    }
    return { issuer, mapping: checkMapping(one, vocabulary, place) };
  });
  const anonymous = value.anonymous && checkAnonymous(value.anonymous, report.at("anonymous"));
  assertNoFaults(report);
  return { jwt: configured, anonymous };
}

function checkAnonymous(
  { enabled = false, conditions = [] }: AnonymousFields,
  report: FieldReport,
): AnonymousRule {
  if (!enabled && conditions.length > 0) {
    report.at("conditions").invalid(conditions, "enabled should be set to true when conditions are defined");
  }
  const paths = conditions.map(({ path = "" }) => path);
  return { enabled, paths: paths.length === 0 ? undefined : new Set(paths) };
}

/** Where the tokens of one issuer come from. */
interface ConfiguredIssuer {
  readonly url: string;
  readonly discoveryUrl: string | undefined;
  readonly audiences: readonly string[];
  /** CA certificates of the provider (PEM); undefined: the system's. */
  readonly authorities: readonly string[] | undefined;
}

/** Names of egress selectors in the reference. */
const egressSelectors: ReadonlySet<string> = new Set(["controlplane", "cluster"]);

/**
 * Checks the issuer of an authenticator.
 *
 * @param ownIssuers issuers of service account tokens, which no authenticator may use.
 */
function checkIssuer(
  issuer: JwtFields["issuer"],
  ownIssuers: readonly string[],
  report: FieldReport,
): ConfiguredIssuer {
  const { url = "", discoveryURL = "", audiences = [], egressSelectorType = "" } = issuer ?? {};
  if (url === "") report.at("url").required();
  else {
    if (ownIssuers.includes(url)) {
      report
        .at("url")
        .invalid(url, `must not be an issuer of service account tokens: ${ownIssuers.join(", ")}`);
    }
    checkUrl(url, report.at("url"));
  }
  if (discoveryURL !== "") {
    if (withoutTrailingSlashes(url) === withoutTrailingSlashes(discoveryURL)) {
      report.at("discoveryURL").invalid(discoveryURL, "must be different from url");
    }
    checkUrl(discoveryURL, report.at("discoveryURL"));
  }
  checkAudiences(audiences, issuer?.audienceMatchPolicy ?? "", report);
  if (egressSelectorType !== "") {
    const fault = egressSelectors.has(egressSelectorType)
      ? "needs an egress configuration, and this server has none: it connects to issuers directly"
      : "egress selector must be either controlplane or cluster";
    report.at("egressSelectorType").invalid(egressSelectorType, fault);
  }
  return {
    url,
    discoveryUrl: discoveryURL === "" ? undefined : discoveryURL,
    audiences,
    authorities: authoritiesIn(issuer?.certificateAuthority ?? "", report.at("certificateAuthority")),
  };
}

function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === "/") end--;
  return text.slice(0, end);
}

function checkUrl(text: string, report: FieldReport): void {
  if (!URL.canParse(text)) return report.invalid(text, "must be a URL");
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== "https:") report.invalid(text, "URL scheme must be https");
  if (username !== "" || password !== "") report.invalid(text, "URL must not contain a username or password");
  if (search !== "") report.invalid(text, "URL must not contain a query");
  if (hash !== "") report.invalid(text, "URL must not contain a fragment");
}

function checkAudiences(audiences: readonly string[], policy: string, report: FieldReport): void {
  const place = report.at("audiences");
  if (audiences.length === 0) return place.required(`at least one ${place.path} is required`);
  for (const [index, audience] of audiences.entries()) {
    if (audience === "") place.at(index).required();
    else if (audiences.indexOf(audience) < index) place.at(index).duplicate(audience);
  }
  if (policy === "MatchAny") return;
  if (audiences.length > 1) {
    report.at("audienceMatchPolicy").invalid(policy, "must be MatchAny for multiple audiences");
  } else if (policy !== "") {
    report.at("audienceMatchPolicy").invalid(policy, "must be empty or MatchAny for a single audience");
  }
}

function authoritiesIn(pem: string, report: FieldReport): readonly string[] | undefined {
  if (pem === "") return undefined;
  const blocks = certificatesIn(pem);
  if (blocks.length > 0 && blocks.every(isCertificate)) return blocks;
  report.invalid("<omitted>", "must have certificates in PEM, and nothing else");
  return undefined;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}
