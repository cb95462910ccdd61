import { relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkout } from './checkout.mjs';
import { packPackages } from './pack-packages.mjs';

// Tarballs of the published packages, for a project of your own: npm install <folder>/*.tgz
const { values } = parseArgs({ options: { out: { type: 'string', default: resolve(checkout, 'dist') } } });
for (const tarball of await packPackages(resolve(values.out))) console.log(relative(process.cwd(), tarball));
