/** The parts of the YAML library that decoding uses, loaded with the first YAML body. */
export { Composer, isAlias, isMap, isScalar, isSeq, parseDocument, Parser } from "yaml";
