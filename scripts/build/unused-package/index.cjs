throw new Error("this package isn't installed; see overrides in package.json");
