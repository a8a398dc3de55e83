import type { JsonValue } from "../../base/json/value.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Bindings } from "../../cel/compile.ts";
import { selectsMember } from "../../cel/syntax/selections.ts";
import { domainPrefixedPath } from "../../kinds/checks/names.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { textClaim, type Claims } from "../jwt/claims.ts";
import { checkEmailVerified, errorPrefix, groupsOf } from "../oidc/claims-to-user.ts";
import type { ClaimMapping } from "../oidc/oidc-tokens.ts";
import { refusal } from "../refusal.ts";
import { compileExpression, Evaluation } from "./claim-expressions.ts";
import {
  assertConditions,
  assertRequiredClaims,
  checkClaimRules,
  checkUserRules,
  claimBindings,
  type ClaimRules,
  type FieldExpression,
} from "./claim-rules.ts";
import type { ClaimMappingFields, JwtFields } from "./form.ts";

/** Where a value comes from: a claim with a prefix, or an expression; undefined if there is no value. */
type Source = { readonly claim: string; readonly prefix: string } | FieldExpression | undefined;

interface Sources {
  readonly username: Source;
  readonly groups: Source;
  readonly uid: Source;
  readonly extra: readonly { readonly key: string; readonly expression: FieldExpression }[];
}

/** Checks how the claims of an authenticator become a user, and the conditions for both. */
export function checkMapping(jwt: JwtFields, vocabulary: Vocabulary, report: FieldReport): ClaimMapping {
  const rules = checkClaimRules(jwt.claimValidationRules, report.at("claimValidationRules"));
  const mappings = jwt.claimMappings ?? {};
  const place = report.at("claimMappings");
  const sources = {
    username: checkPrefixed(mappings.username, true, place.at("username")),
    groups: checkPrefixed(mappings.groups, false, place.at("groups")),
    uid: checkUid(mappings.uid, place.at("uid")),
    extra: checkExtra(mappings.extra, vocabulary, place.at("extra")),
  };
  checkEmail(jwt, place);
  const userConditions = checkUserRules(jwt.userValidationRules, report.at("userValidationRules"));
  const { singleGroupClaim } = vocabulary.behavior;
  return new ConfiguredMapping(sources, rules, userConditions, singleGroupClaim);
}

function checkPrefixed(
  mapping: ClaimMappingFields["username"],
  required: boolean,
  report: FieldReport,
): Source {
  const { claim = "", expression = "" } = mapping ?? {};
  const prefix = mapping?.prefix ?? undefined;
  if (claim !== "" && expression !== "") report.invalid("", "claim and expression can't both be set");
  else if (expression !== "") {
    if (prefix !== undefined)
      report.at("prefix").invalid(prefix, "may not be specified when expression is set");
    return compiled(expression, report.at("expression"));
  } else if (claim !== "") {
    if (prefix !== undefined) return { claim, prefix };
    report
      .at("prefix")
      .required(
        "prefix is required when claim is set. It can be set to an empty string to disable prefixing",
      );
  } else if (required) report.required("claim or expression is required");
  return undefined;
}

function checkUid(
  { claim = "", expression = "" }: NonNullable<ClaimMappingFields["uid"]> = {},
  report: FieldReport,
): Source {
  if (claim !== "" && expression !== "") report.invalid("", "claim and expression can't both be set");
  if (expression !== "") return compiled(expression, report.at("expression"));
  return claim === "" ? undefined : { claim, prefix: "" };
}

function compiled(expression: string, report: FieldReport): FieldExpression | undefined {
  const program = compileExpression(expression, "claims", false, report);
  return program && { program, field: report.path };
}

function checkExtra(
  mappings: ClaimMappingFields["extra"] = [],
  { domain, groupSuffix }: Vocabulary,
  report: FieldReport,
): Sources["extra"] {
  const extra = new Map<string, { key: string; expression: FieldExpression }>();
  const reserved = [...new Set([domain, groupSuffix])];
  for (const [index, { key = "", valueExpression = "" }] of mappings.entries()) {
    const place = report.at(index);
    domainPrefixedPath(key, place.at("key"));
    if (key !== key.toLowerCase()) place.at("key").invalid(key, "must be lowercase");
    const prefix = key.split("/", 1)[0]!;
    if (reserved.some((one) => prefix === one || prefix.endsWith(`.${one}`))) {
      place.at("key").invalid(key, `${reserved.join(", ")} and their subdomains are reserved`);
    }
    if (mappings.findIndex((other) => other.key === key) < index) place.at("key").duplicate(key);
    else if (valueExpression === "") place.at("valueExpression").required();
    else {
      const expression = compiled(valueExpression, place.at("valueExpression"));
      if (expression !== undefined) extra.set(key, { key, expression });
    }
  }
  return [...extra.values()];
}

/** A user name from an email by an expression needs an expression that looks at whether the email is verified. */
function checkEmail({ claimMappings, claimValidationRules = [] }: JwtFields, report: FieldReport): void {
  const { username: { expression: username = "" } = {}, extra = [] } = claimMappings ?? {};
  if (!selectsMember(username, "claims", "email")) return;
  const all = [
    username,
    ...extra.map(({ valueExpression = "" }) => valueExpression),
    ...claimValidationRules.map(({ expression = "" }) => expression),
  ];
  if (all.some((one) => selectsMember(one, "claims", "email_verified"))) return;
  report
    .at("username", "expression")
    .invalid(
      username,
      "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression " +
        "or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression",
    );
}

class ConfiguredMapping implements ClaimMapping {
  readonly groupsClaim: string;

  constructor(
    private readonly sources: Sources,
    private readonly rules: ClaimRules,
    private readonly userConditions: ReturnType<typeof checkUserRules>,
    private readonly singleGroupClaim: boolean,
  ) {
    const { groups } = sources;
    this.groupsClaim = groups !== undefined && "claim" in groups ? groups.claim : "";
  }

  async userOf(claims: Claims): Promise<UserInfo> {
    const { rules, sources, userConditions } = this;
    const evaluation = new Evaluation();
    const bindings = claimBindings(claims);
    const yieldIfDue = createYielder();
    const name = this.nameOf(claims, evaluation, bindings);
    const groups = this.groups(claims, evaluation, bindings);
    const uid = this.uid(claims, evaluation, bindings);
    const extra: Record<string, string[]> = {};
    for (const { key, expression } of sources.extra) {
      const values = evaluation.texts(expression.program, bindings, expression.field);
      if (values.length > 0) extra[key] = values;
      await yieldIfDue();
    }
    assertRequiredClaims(rules, claims);
    for (const condition of rules.conditions) {
      assertConditions([condition], evaluation, bindings);
      await yieldIfDue();
    }
    const value: JsonValue = { username: name, uid, groups, extra };
    const user = Evaluation.bind("user", value);
    for (const condition of userConditions) {
      assertConditions([condition], evaluation, user);
      await yieldIfDue();
    }
    return { name, uid, groups, extra };
  }

  private nameOf(claims: Claims, evaluation: Evaluation, bindings: Bindings): string {
    const source = this.sources.username!;
    if ("program" in source) {
      const name = evaluation.text(source.program, bindings, source.field);
      if (name === "") throw refusal(`${errorPrefix}: ${source.field}: the user name is empty`);
      return name;
    }
    const { claim, prefix } = source;
    const name = textClaim(claims, claim) ?? "";
    if (name === "") throw refusal(`${errorPrefix}: the claim ${JSON.stringify(claim)} is missing or empty`);
    if (claim === "email") checkEmailVerified(claims);
    return prefix + name;
  }

  private groups(claims: Claims, evaluation: Evaluation, bindings: Bindings): string[] {
    const source = this.sources.groups;
    if (source === undefined) return [];
    if ("program" in source) return evaluation.texts(source.program, bindings, source.field);
    const { singleGroupClaim } = this;
    return groupsOf(claims, { groupsClaim: source.claim, groupsPrefix: source.prefix, singleGroupClaim });
  }

  private uid(claims: Claims, evaluation: Evaluation, bindings: Bindings): string {
    const source = this.sources.uid;
    if (source === undefined) return "";
    if ("program" in source) return evaluation.text(source.program, bindings, source.field);
    const uid = textClaim(claims, source.claim);
    if (uid === undefined)
      throw refusal(`${errorPrefix}: the claim ${JSON.stringify(source.claim)} is missing`);
    return uid;
  }
}
