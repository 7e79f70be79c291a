import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const ROOT = new URL('../../', import.meta.url);
const OURS = /gateway-(?:agent|coordinator)\b|@inference-gateway\//;
/** What downloads and runs, or installs, a package by its name. */
const FETCHES = new RegExp(
  String.raw`\b(?:npx|bunx|pnpx|npm (?:exec|x|i|install|create)|(?:pnpm|yarn) (?:dlx|add))\b(.*)`,
  'g',
);

test('what is told to be run never fetches a package by the name of one of the programs', () => {
  const files = execFileSync('git', [
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
    '-z',
  ])
    .toString()
    .split('\0')
    .filter((path) => /\.(?:[cm]?[jt]sx?|md|json|ya?ml|html|css|sh|service)$/.test(path))
    .filter((path) => path !== 'package-lock.json' && !path.startsWith('test/docs/npx'));
  expect(files).toContain('README.md');
  expect(files).toContain('packages/coordinator/web/src/screens/providers/install-agent.tsx');
  const faults = files.flatMap((path) =>
    fetchesIn(readFileSync(new URL(path, ROOT), 'utf8')).map((line) => `${path}: ${line}`),
  );
  expect(faults).toEqual([]);
});

test.each([
  'npx gateway-agent start --yes',
  'Run `npx -y gateway-agent login`',
  'npm install -g @inference-gateway/agent',
  'npm exec gateway-coordinator start',
  'npm install -g ./tools.tgz gateway-agent',
  'npx --no-install tsc && npx gateway-coordinator start',
])('%s would fetch', (line) => {
  expect(fetchesIn(line)).toEqual([line]);
});

test.each([
  'npx --no-install gateway-agent start --yes',
  'gateway-agent start',
  'npm ci && npm run build',
  'npx vitest run test/api',
  'npm install --global ./gateway-agent-1.0.0.tgz',
  'npm install -g https://gateway.example.org/download/gateway-agent-1.0.0.tgz',
])('%s fetches nothing', (line) => {
  expect(fetchesIn(line)).toEqual([]);
});

/** Files and addresses, which name no package. */
const PLACES = /(?<=^|\s)(?:\.{0,2}\/|https?:\/\/|\$\{url\}\/)\S+/g;

/** The lines that would fetch; each fetching command of a line is looked at by itself. */
function fetchesIn(text: string): string[] {
  return text
    .split('\n')
    .filter((line) =>
      line
        .split(/&&|\|\||;/)
        .some((command) =>
          [...command.matchAll(FETCHES)].some(
            ([, rest = '']) =>
              OURS.test(rest.replaceAll(PLACES, '')) && !/^ --no-install\b/.test(rest),
          ),
        ),
    );
}
