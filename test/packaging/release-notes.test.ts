import { expect, test } from 'vitest';
import { faultsOf, sectionOf } from '../../scripts/release-notes.js';

const CHANGELOG = `# Changelog

What changes.

## 1.3.0, unreleased

- Not yet.

## 1.2.0, 2026-11-25

- **One.** With a line
  of two.
- \`## 1.1.0\` is no heading here.

## 1.2.0-beta.1, 2026-11-01

## 1.1.0

- Older.
`;

test('the section of a version is the text up to the next one', () => {
  expect(sectionOf(CHANGELOG, '1.2.0')).toEqual({
    title: '1.2.0, 2026-11-25',
    text: '- **One.** With a line\n  of two.\n- `## 1.1.0` is no heading here.',
  });
  expect(sectionOf(CHANGELOG, '1.1.0')?.text).toBe('- Older.');
});

test('a version without a section has none, also where another begins with it', () => {
  expect(sectionOf(CHANGELOG, '1.2')).toBeNull();
  expect(sectionOf(CHANGELOG, '1.2.0-beta')).toBeNull();
});

test('a tag is released if the packages and the changelog have its version', () => {
  const versions = { 'package.json': '1.2.0', 'packages/agent/package.json': '1.2.0' };
  expect(faultsOf('v1.2.0', { changelog: CHANGELOG, versions })).toEqual([]);
});

test.each([
  ['1.2.0', ['the tag "1.2.0" is not of the form v1.2.3']],
  ['v1.1.0', ['package.json has the version 1.2.0, not 1.1.0']],
  [
    'v1.4.0',
    ['package.json has the version 1.2.0, not 1.4.0', 'CHANGELOG.md has no section "## 1.4.0"'],
  ],
])('%s is refused', (tag, faults) => {
  const versions = { 'package.json': '1.2.0' };
  expect(faultsOf(tag, { changelog: CHANGELOG, versions })).toEqual(faults);
});

test.each([
  ['1.3.0', 'CHANGELOG.md says "1.3.0, unreleased"'],
  ['1.2.0-beta.1', 'the section "1.2.0-beta.1, 2026-11-01" of CHANGELOG.md is empty'],
])('an unfinished section is refused: %s', (version, fault) => {
  const versions = { 'package.json': version };
  expect(faultsOf(`v${version}`, { changelog: CHANGELOG, versions })).toEqual([fault]);
});
