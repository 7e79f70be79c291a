/**
 * Whether the name of a model that nobody serves may be shown to other members once several have
 * asked for it. Names are what callers type: a key in the wrong field, a path or an address may be
 * among them. What is in doubt is not kept.
 */

/** Of one member: further ids of the same day are not kept. */
export const MAX_WANTED_A_DAY = 20;

/** Members of one network who must have asked for it. */
export const WANTED_BY = 3;

/** The longest ids of Hugging Face have about as many. */
const MAX_CHARACTERS = 96;

/** `name`, `name:tag` or `owner/name`, as model servers call models; no path, no host. */
const ID = /^(?:[A-Za-z0-9][A-Za-z0-9._-]*\/)?[A-Za-z0-9][A-Za-z0-9._:-]*$/;

/** `host.example/model`: not a library of models but a place. */
const HOST = /^[^/]*[.:][^/]*\//;

/** How keys, tokens and signatures begin, here and elsewhere. */
const SECRET_BEGINNINGS = [
  'gw[a-z]_',
  '[spr]k[-_]',
  'xox[a-z]-',
  'gh[a-z]_',
  'github_pat',
  'glpat',
  'hf_',
  'gsk_',
  'nvapi',
  'xai-\\w{16}',
  '(?:akia|aiza|eyj)\\w{8}',
  'bearer|basic|token|secret|password',
  'api[-_]?key',
];
const SECRET = new RegExp(`(?:^|[^a-z0-9])(?:${SECRET_BEGINNINGS.join('|')})`, 'i');

const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i;
const HEX = /(?:^|[^a-z0-9])[0-9a-f]{12,}(?:$|[^a-z0-9])/i;

/** Names are written with separators. */
const MAX_WORD = 20;

/** Words from these lengths on are judged by their characters: several, one, and one strictly. */
const SHORT = 4;
const MIDDLE = 8;
const LONG = 12;

export function isWantable(id: string): boolean {
  if (id.length > MAX_CHARACTERS || !ID.test(id) || HOST.test(id)) return false;
  if (!/[a-z]/i.test(id) || SECRET.test(id) || UUID.test(id) || HEX.test(id)) return false;
  const words = id.split(/[._:/-]+/);
  if (words.some((word) => word.length > MAX_WORD || isLongRandom(word))) return false;
  const random = words.filter(isRandom);
  // One is a size or a version, `8x7b`; several are the groups of a key.
  return random.length < 2 && random.every((word) => word.length < MIDDLE);
}

/** Model servers mean this tag where none is written. */
const LATEST = ':latest';

export function wantedId(id: string): string {
  return id.endsWith(LATEST) ? id.slice(0, -LATEST.length) : id;
}

/** Of letters, digits and cases that take turns as they do by chance. */
function isLongRandom(word: string): boolean {
  return word.length >= LONG && turnsOf(word) * 3 >= word.length;
}

function isRandom(word: string): boolean {
  return word.length >= SHORT && turnsOf(word) * 2 > word.length;
}

/** How often a kind of character follows another kind. */
function turnsOf(word: string): number {
  const kinds = word.replaceAll(/[a-z]/g, 'a').replaceAll(/[A-Z]/g, 'A').replaceAll(/\d/g, '0');
  let turns = 0;
  for (let at = 1; at < kinds.length; at++) if (kinds[at] !== kinds[at - 1]) turns++;
  return turns;
}
