const LONGEST_FILE = 400;

// Configuration is parsed at the edges only, and passed on by argument.
const MAY_READ_ENVIRONMENT = [
  /^services\/[^/]+\/src\/main\.ts$/,
  /^packages\/cli\/(src|bin)\//,
  /^packages\/runtime\/src\/config/,
  /^(infra|test|bench)\//,
];

/** Files over the limit, as lines for a person. */
export function findLongFiles(files) {
  return files
    .filter((file) => file.lines > LONGEST_FILE)
    .map((file) => `${file.path}: ${file.lines} lines, the limit is ${LONGEST_FILE}; split it by concept`);
}

/** Reads of the environment outside the places that parse configuration. */
export function findEnvironmentReads(files) {
  return files
    .filter(
      (file) => /\bprocess\.env\b/.test(file.text) && !MAY_READ_ENVIRONMENT.some((place) => place.test(file.path)),
    )
    .map((file) => `${file.path}: reads process.env; take the value as an argument from main.ts`);
}

// What agents run remembers nothing between two commands: neither a variable nor a collection outlives one. A WeakMap
// holds what follows from its key alone.
const REMEMBERS_NOTHING = /^(?:services\/[^/]+\/src\/handlers|packages\/(?:domain|workflows)\/src)\/.*(?<!\.test)\.ts$/;
const MUTABLE_BINDING =
  /^(?:export )?(?:let|var)\s+(\w+)|^(?:export )?const (\w+)(?:: [^=\n]+)? = (?:new (?:Map|Set|Array)(?:<[^\n(]*>)?\(\)|\[\]|\{\});/gm;

/** Module state in the code that executors run. */
export function findModuleState(files) {
  return files
    .filter((file) => REMEMBERS_NOTHING.test(file.path))
    .flatMap((file) =>
      [...file.text.matchAll(MUTABLE_BINDING)].map(
        (match) =>
          `${file.path}: ${match[1] ?? match[2]} is kept between commands; make it inside the function that needs it`,
      ),
    );
}
