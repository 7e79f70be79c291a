// Prints the section of CHANGELOG.md about a version, for the notes of its release:
//
//   node scripts/release-notes.js v1.2.3
//
// Fails if the tag, that section and the versions of the packages do not agree.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const MANIFESTS = [
  'package.json',
  'packages/shared/package.json',
  'packages/coordinator/package.json',
  'packages/agent/package.json',
];

/**
 * The text below `## <version>`, up to the next heading of its kind.
 * @param {string} changelog
 * @param {string} version
 * @returns {{ title: string, text: string } | null} Null if there is no such section.
 */
export function sectionOf(changelog, version) {
  const sections = changelog.split(/^## /m).slice(1);
  for (const section of sections) {
    const [title = '', ...lines] = section.split('\n');
    if (/^\S*?(?=,|\s|$)/.exec(title)?.[0] !== version) continue;
    return { title: title.trim(), text: lines.join('\n').trim() };
  }
  return null;
}

/**
 * What keeps a tag from being released.
 * @param {string} tag
 * @param {{ changelog: string, versions: Readonly<Record<string, string>> }} tree The versions by
 *   the file that names them.
 * @returns {string[]}
 */
export function faultsOf(tag, { changelog, versions }) {
  const version = /^v(\d+\.\d+\.\d+(-[0-9a-z.-]+)?)$/.exec(tag)?.[1];
  if (version === undefined) return [`the tag "${tag}" is not of the form v1.2.3`];
  const others = Object.entries(versions).filter(([, one]) => one !== version);
  const faults = others.map(([file, one]) => `${file} has the version ${one}, not ${version}`);
  const section = sectionOf(changelog, version);
  if (section === null) return [...faults, `CHANGELOG.md has no section "## ${version}"`];
  if (/unreleased/i.test(section.title)) faults.push(`CHANGELOG.md says "${section.title}"`);
  if (section.text === '') faults.push(`the section "${section.title}" of CHANGELOG.md is empty`);
  return faults;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main(process.argv[2] ?? '');

/** @param {string} tag */
function main(tag) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const read = (/** @type {string} */ file) => readFileSync(join(root, file), 'utf8');
  const changelog = read('CHANGELOG.md');
  const versions = Object.fromEntries(
    MANIFESTS.map((file) => [file, JSON.parse(read(file)).version]),
  );
  const faults = faultsOf(tag, { changelog, versions });
  if (faults.length > 0) {
    console.error(faults.join('\n'));
    process.exit(1);
  }
  console.log(sectionOf(changelog, tag.slice(1))?.text);
}
