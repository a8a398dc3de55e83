/** Header lines of a response: name, value, name, value, … */
export type HeaderLines = readonly string[];
