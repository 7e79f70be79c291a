// Where the browsers are that the tests of the dashboard and the screenshots use.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Without a window's frame a page takes two thirds of the CPU time, so the shell comes first. */
const CHROMIUM = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];
const FIREFOX = ['firefox-esr', 'firefox'];

/**
 * The path of the first that the PATH has, or what GATEWAY_TEST_CHROMIUM names; null without any.
 * @returns {string | null}
 */
export function findChromium() {
  return find(process.env['GATEWAY_TEST_CHROMIUM'], CHROMIUM);
}

/**
 * The same for Firefox and GATEWAY_TEST_FIREFOX.
 * @returns {string | null}
 */
export function findFirefox() {
  return find(process.env['GATEWAY_TEST_FIREFOX'], FIREFOX);
}

/** @param {string | undefined} named @param {readonly string[]} names */
function find(named, names) {
  if (named !== undefined && named !== '') return named;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find(isProgram) ?? null;
}

/** @param {string} path */
function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
