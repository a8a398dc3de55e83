import { isLater, releaseAfter, releases, type Release } from "../base/releases.ts";
import { mergeFunctions, type CelFunction, type FunctionTable } from "./functions/function-table.ts";
import { accessFunctions, selectorCheckFunctions } from "./functions/access-functions.ts";
import { conversions } from "./functions/conversions.ts";
import { formatFunctions } from "./functions/named-formats.ts";
import { laterListFunctions } from "./functions/list-functions.ts";
import {
  globalMatches,
  laterTextFunctions,
  lenientSearch,
  mixedComparisons,
} from "./functions/function-variants.ts";
import { quantityFunctions, semverFunctions } from "./functions/quantity-functions.ts";
import { includesFunction, setFunctions } from "./functions/sets.ts";
import { cidrFunctions, ipFunctions } from "./functions/ip-functions.ts";
import { listFunctions } from "./functions/lists.ts";
import { optionalFunctions, optionalListFunctions } from "./functions/optionals.ts";
import { operators } from "./functions/operators.ts";
import { regularExpressionFunctions } from "./functions/regular-expressions.ts";
import { affixFunctions, textFunctions } from "./functions/texts.ts";
import { timeFunctions } from "./functions/time-functions.ts";
import { urlFunctions } from "./functions/urls.ts";
import type { Features } from "./language-features.ts";

type Functions = readonly (readonly [string, CelFunction])[];

/** Functions or features of the language, with the releases that have them. */
interface Addition {
  /** The first release that evaluates stored expressions which use it. */
  readonly since: string;
  /** The first release that accepts it in new expressions. */
  readonly offered: string;
  readonly functions?: () => Functions;
  /** Functions that replace those with the same names. */
  readonly replacements?: (functions: FunctionTable) => Functions;
  readonly features?: Features;
}

/** A library is offered one release later than it is evaluated, so that a server of the previous release can read what is stored. */
function library(since: Release, parts: Omit<Addition, "since" | "offered">): Addition {
  return { since, offered: releaseAfter(since, 1), ...parts };
}

/** A change of the language itself, which the libraries don't decide, applies to all expressions. */
function change(since: Release, parts: Omit<Addition, "since" | "offered">): Addition {
  return { since, offered: since, ...parts };
}

/** Everything that later releases add to the expressions of the reference release; a later row replaces the features of earlier ones. */
const additions: readonly Addition[] = [
  change("1.27", { functions: () => accessFunctions }),
  change("1.28", {
    replacements: (functions) => globalMatches(functions.get("matches")!),
    features: { literalCharacters: true, presenceCost: 1, shallowDepth: true },
  }),
  library("1.28", {
    functions: () => [...optionalFunctions, ...quantityFunctions, ...mixedComparisons],
    features: { optionalSyntax: true },
  }),
  change("1.29", { features: { presenceCost: 0, optionalFlatMap: true } }),
  library("1.29", {
    functions: () => [...laterTextFunctions, ...setFunctions],
    features: { strictLiterals: true },
  }),
  library("1.30", { functions: () => [...ipFunctions, ...cidrFunctions] }),
  change("1.31", { features: { sizesOfResults: true, optionalTypeName: true } }),
  library("1.31", { functions: () => selectorCheckFunctions }),
  library("1.31", { functions: () => formatFunctions, features: { reservedFieldNames: true } }),
  change("1.32", { replacements: lenientSearch }),
  library("1.32", { features: { twoVariableMacros: true } }),
  change("1.33", {
    functions: () => optionalListFunctions,
    features: { sizesOfDynamic: true, sizesOfUrls: true, noSurrogates: true },
  }),
  library("1.33", { functions: () => semverFunctions }),
  library("1.34", { functions: () => laterListFunctions, features: { sortBy: true } }),
  change("1.37", {
    replacements: (functions) => [...affixFunctions, ...withoutIntegers(functions.get("duration")!)],
    features: { quotedFieldNames: true },
  }),
  library("1.37", { functions: () => includesFunction }),
];

/** `duration` without the signature for integers, which always failed. */
function withoutIntegers(duration: CelFunction): Functions {
  const signatures = duration.signatures.filter(({ takes }) => takes[0]!.is !== "int");
  return [["duration", { ...duration, signatures }]];
}

/** Whether an expression is stored already, or is written by the request. */
export type ExpressionUse = "stored" | "new";

/** What an expression may use. */
export interface Language {
  readonly functions: FunctionTable;
  readonly features: Features;
}

const noFeatures: Features = {};

/** The expressions of the reference release, 1.26. */
export const referenceLanguage: Language = {
  functions: new Map<string, CelFunction>([
    ...operators,
    ...conversions,
    ...textFunctions,
    ...regularExpressionFunctions,
    ...listFunctions,
    ...timeFunctions,
    ...urlFunctions,
  ]),
  features: noFeatures,
};

/** Languages by release and use; created on first use. */
const languages = new Map<string, Language>();

/** Returns what expressions may use in a release. New expressions may use less than stored ones. */
export function languageOf(release: Release, use: ExpressionUse): Language {
  const key = `${release} ${use}`;
  let language = languages.get(key);
  if (language === undefined) languages.set(key, (language = createLanguage(release, use)));
  return language;
}

/** Returns the language without the selectors of access checks, for a server whose gate `AuthorizeWithSelectors` is off. */
export function withoutCheckSelectors({ functions, features }: Language): Language {
  const reduced = new Map(functions);
  for (const [name] of selectorCheckFunctions) reduced.delete(name);
  return { functions: reduced, features };
}

/** What expressions in configuration files may use, in every release: all that the newest release has. */
export function configurationLanguage(): Language {
  return languageOf(releases.at(-1)!, "stored");
}

function createLanguage(release: Release, use: ExpressionUse): Language {
  const available = additions.filter(({ since, offered }) => {
    return !isLater(use === "stored" ? since : offered, release);
  });
  if (available.length === 0) return referenceLanguage;
  const functions = new Map(referenceLanguage.functions);
  for (const { functions: added, replacements } of available) {
    for (const [name, one] of added?.() ?? []) {
      const existing = functions.get(name);
      functions.set(name, existing === undefined ? one : mergeFunctions(existing, one));
    }
    for (const [name, one] of replacements?.(functions) ?? []) functions.set(name, one);
  }
  const features = available.map((addition) => addition.features ?? noFeatures);
  return { functions, features: Object.assign({}, ...features) as Features };
}
