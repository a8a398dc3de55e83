/** Version of the package; a test holds it against package.json. */
export const productVersion = "0.1.0";
