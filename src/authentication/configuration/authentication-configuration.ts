import { apiGroup } from "../../vocabulary/names.ts";
import { assertNoFaults, readConfiguration } from "../../schema/configuration.ts";
import { FieldReport } from "../../schema/faults.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { ClaimMapping } from "../oidc/oidc-tokens.ts";
import { checkIssuer, type ConfiguredIssuer } from "./check-issuer.ts";
import { checkMapping } from "./claim-mapping.ts";
import { AuthenticationConfiguration, type AnonymousFields } from "./form.ts";

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
