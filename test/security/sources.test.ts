/** Constructs that no source may use, because a check elsewhere relies on their absence. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const ROOT = new URL('../../', import.meta.url);
const FOLDERS = ['agent/src', 'coordinator/src', 'coordinator/web/src', 'shared/src'];
const sources = new Map(
  FOLDERS.flatMap((folder) => {
    const names = readdirSync(new URL(`packages/${folder}`, ROOT), { recursive: true });
    return names
      .map((name) => `packages/${folder}/${String(name)}`)
      .filter((path) => /\.tsx?$/.test(path));
  }).map((path) => [path, readFileSync(new URL(path, ROOT), 'utf8')]),
);

/** Looks at certificates for the doctor, and sends nothing over its connection. */
const ALLOWED = ['packages/shared/src/program/certificate.ts rejectUnauthorized'];

test.each<[string, RegExp]>([
  ['puts text into a page as HTML', /innerHTML|outerHTML|insertAdjacentHTML|document\.write\b/i],
  ['runs text as a program', /\beval\(|new Function\(|\bvm\.run|runInNewContext/],
  [
    'runs a shell',
    /shell: true|\bexecSync\(|import \{[^}]*\bexec\b[^}]*\} from 'node:child_process'/,
  ],
  ['switches the check of certificates off', /rejectUnauthorized|NODE_TLS_REJECT|checkServerIdent/],
  ['reads HTTP leniently', /insecureHTTPParser/],
  ['makes random numbers for secrets that can be foretold', /Math\.random\(\)\.toString/],
])('no source %s', (_, pattern) => {
  expect(sources.size).toBeGreaterThan(500);
  const found = [...sources].flatMap(([path, text]) => {
    const [used] = pattern.exec(text) ?? [];
    return used === undefined ? [] : [`${path} ${used}`];
  });
  expect(found.filter((one) => !ALLOWED.includes(one))).toEqual([]);
});
