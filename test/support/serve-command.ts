/** A command of a script that starts a server: it begins a line and may continue after a backslash. */
export const serveCommand = /^(?:plinth serve|npm start)\b(?:[^\n]*\\\n)*[^\n]*$/m;
