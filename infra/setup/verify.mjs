import { gates } from './gates.mjs';

// One gate, the same here and in CI. Every check runs, so that one red check does not hide another.
const wanted = process.argv.slice(2);
const chosen = Object.entries(gates).filter(
  ([name]) => wanted.length === 0 || wanted.some((word) => name.includes(word)),
);
let red = 0;

for (const [name, check] of chosen) {
  const startedAt = performance.now();
  const { looked, problems } = await check();
  const isRed = problems !== '' || looked === 0;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (problems !== '') console.log(problems);
  console.log(
    `${isRed ? 'red  ' : 'green'}  ${seconds.padStart(5)} s  ${name}: ${looked === 0 ? 'looked at nothing' : `${looked} files`}`,
  );
  if (isRed) red += 1;
}

console.log(
  red === 0 && chosen.length > 0 ? `all ${chosen.length} gates green` : `${red} of ${chosen.length} gates red`,
);
process.exitCode = red === 0 && chosen.length > 0 ? 0 : 1;
