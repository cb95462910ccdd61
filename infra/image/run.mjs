// What the image runs: `docker run cleanslate scheduler` is that service, anything else the command line.
const SERVICES = [
  'scheduler',
  'knowledge-maintainer',
  'gateway',
  'planner',
  'retriever',
  'analyzer',
  'generator',
  'validator',
];

const [name] = process.argv.slice(2);
await import(SERVICES.includes(name) ? `./${name}.mjs` : './slate.mjs');
