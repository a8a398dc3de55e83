/**
 * Validation of names. Each `…Faults` function returns error messages with the regular expression, and an empty list for a valid
 * name.
 */

const none: readonly string[] = [];

/** A format of names: description, regular expression for the whole name, and maximum length. */
class Form {
  private readonly whole: RegExp;
  constructor(
    private readonly rule: string,
    private readonly source: string,
    private readonly example: string,
    private readonly maxLength: number,
  ) {
    this.whole = new RegExp(`^(?:${source})$`);
  }

  /** Whether a name has the format. A name that is too long is rejected without matching the expression. */
  fits(name: string): boolean {
    return name.length <= this.maxLength && this.whole.test(name);
  }

  faults(name: string): readonly string[] {
    if (this.fits(name)) return none;
    if (name.length > this.maxLength) return [tooLongMessage(this.maxLength)];
    return [`${this.rule} (e.g. ${this.example}, regex used for validation is '${this.source}')`];
  }
}

function tooLongMessage(maxLength: number): string {
  return `must be no more than ${maxLength} characters`;
}

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const qualifiedPart = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

const dnsLabel = new Form(
  "a lowercase RFC 1123 label has only lower case letters, digits and '-', and starts and ends with a letter or digit",
  label,
  "'my-name', or '123-abc'",
  63,
);
const dnsSubdomain = new Form(
  "a lowercase RFC 1123 subdomain has only lower case letters, digits, '-' and '.', and starts and ends with a letter or digit",
  `${label}(\\.${label})*`,
  "'example.com'",
  253,
);
const underscoreLabel = "[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?";
const searchDomain = new Form(
  "a lowercase RFC 1123 subdomain with underscores has only lower case letters, digits, '-', '_' and '.', and doesn't start or end with '-' or '.'",
  `${underscoreLabel}(\\.${underscoreLabel})*`,
  "'example.com', or '_sip._tcp.example.com'",
  253,
);
const dns1035Label = new Form(
  "a DNS-1035 label has only lower case letters, digits and '-', starts with a letter and ends with a letter or digit",
  "[a-z]([-a-z0-9]*[a-z0-9])?",
  "'my-name', or 'abc-123'",
  63,
);
const wildcardSubdomain = new Form(
  "a wildcard DNS-1123 subdomain starts with '*.' and goes on as a lowercase RFC 1123 subdomain",
  `\\*\\.${label}(\\.${label})*`,
  "'*.example.com'",
  253,
);
const namePart = new Form(
  "a name part has only letters, digits, '-', '_' and '.', and starts and ends with a letter or digit",
  qualifiedPart,
  "'MyName', or 'my.name', or '123-abc'",
  63,
);
const labelValue = new Form(
  "a label value is empty, or has only letters, digits, '-', '_' and '.', and starts and ends with a letter or digit",
  `(${qualifiedPart})?`,
  "'MyValue', or 'my_value', or '12345'",
  63,
);
const dataKey = new Form(
  "a data key has only letters, digits, '-', '_' and '.'",
  "[-._a-zA-Z0-9]+",
  "'key.name', or 'KEY_NAME', or 'key-name'",
  253,
);

/** DNS-1123 label, at most 63 characters: namespaces, container and port names. */
export function dnsLabelFaults(name: string): readonly string[] {
  return dnsLabel.faults(name);
}

/** DNS-1123 subdomain, at most 253 characters: the names of most objects. */
export function dnsSubdomainFaults(name: string): readonly string[] {
  return dnsSubdomain.faults(name);
}

/** A DNS-1123 subdomain whose labels may also have underscores: search domains of pods. */
export function searchDomainFaults(name: string): readonly string[] {
  return searchDomain.faults(name);
}

/** DNS-1035 label, at most 63 characters: names that must not begin with a digit, such as those of Services. */
export function dns1035LabelFaults(name: string): readonly string[] {
  return dns1035Label.faults(name);
}

/** A DNS-1123 subdomain whose first label is `*`. */
export function wildcardSubdomainFaults(name: string): readonly string[] {
  return wildcardSubdomain.faults(name);
}

/** A name with an optional prefix `subdomain/`: keys of labels and annotations, finalizers, condition types. */
export function qualifiedNameFaults(name: string): readonly string[] {
  const slash = name.indexOf("/");
  const prefixFits = slash === -1 || dnsSubdomain.fits(name.slice(0, slash));
  if (prefixFits && namePart.fits(name.slice(slash + 1))) return none;
  const parts = name.split("/", 3);
  if (parts.length > 2) {
    return [
      "a qualified name is a name part, or a DNS subdomain, a '/' and a name part " +
        `(e.g. 'example.com/MyName', regex used for validation of the name part is '${qualifiedPart}')`,
    ];
  }
  const faults: string[] = [];
  if (parts.length === 2) {
    const [prefix] = parts;
    if (prefix === "") faults.push("prefix part must be non-empty");
    else faults.push(...dnsSubdomain.faults(prefix!).map((message) => `prefix part ${message}`));
  }
  const part = parts.at(-1)!;
  if (part === "") faults.push("name part must be non-empty");
  faults.push(...namePart.faults(part).map((message) => `name part ${message}`));
  return faults.length === 0 ? none : faults;
}

/** The value of a label: empty, or at most 63 characters. */
export function labelValueFaults(value: string): readonly string[] {
  return labelValue.faults(value);
}

/** A name that is valid as a path segment. */
export function pathSegmentFaults(name: string): readonly string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  const faults = ["/", "%"].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
  return faults.length === 0 ? none : faults;
}

/** Characters that the keys of the store contain beside names; the reference allows the last two in names. */
const reservedCharacters = ["\0", "\u0001", "\u0002"];

/** A path segment as the name of an object: names of roles and bindings, which may contain `:` and upper case. */
export function pathSegmentNameFaults(name: string): readonly string[] {
  const faults = pathSegmentFaults(name);
  if (!reservedCharacters.some((one) => name.includes(one))) return faults;
  return [...faults, "may not contain the control characters U+0000, U+0001 and U+0002"];
}

/** A key in the data of a ConfigMap or Secret; volumes use it as a file name. */
export function configMapKeyFaults(key: string): readonly string[] {
  const faults = dataKey.faults(key);
  if (faults.length > 0) return faults;
  if (key === ".") return ["must not be '.'"];
  if (key === "..") return ["must not be '..'"];
  if (key.startsWith("..")) return ["must not start with '..'"];
  return none;
}

/** Without vowels and similar characters, so that random names don't form words. */
const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";
const suffixLength = 5;
const maxBaseLength = 63 - suffixLength;

/**
 * Generates a name from `metadata.generateName` (spec: conventions 2.2): the prefix, truncated to 58 characters, and five random
 * characters.
 * @param randomInt returns a random integer from 0 to its argument, exclusive.
 */
export function makeName(prefix: string, randomInt: (below: number) => number): string {
  let name = prefix.slice(0, maxBaseLength);
  for (let index = 0; index < suffixLength; index++) name += suffixAlphabet[randomInt(suffixAlphabet.length)];
  return name;
}
