// The icons of the page, by their names in lucide, and the sprite file that contains them.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

const require = createRequire(import.meta.url);

const ICONS = [
  'activity',
  'arrow-left',
  'arrow-right',
  'audio-lines',
  'ban',
  'bell',
  'book-open',
  'boxes',
  'brush',
  'chart-column',
  'check',
  'chevron-left',
  'chevron-right',
  'circle-alert',
  'circle-check',
  'circle-x',
  'clock',
  'code',
  'columns-2',
  'copy',
  'cpu',
  'download',
  'ellipsis',
  'external-link',
  'eye',
  'eye-off',
  'file-headphone',
  'film',
  'house',
  'image',
  'images',
  'info',
  'key-round',
  'layers',
  'library',
  'link',
  'list',
  'list-checks',
  'log-out',
  'menu',
  'message-square',
  'mic',
  'music',
  'network',
  'paperclip',
  'pause',
  'pencil',
  'play',
  'plug',
  'plus',
  'refresh-cw',
  'rotate-ccw',
  'scroll-text',
  'search',
  'send',
  'server',
  'settings',
  'share-2',
  'shield',
  'sliders-horizontal',
  'square',
  'trash',
  'triangle-alert',
  'undo-2',
  'upload',
  'user',
  'user-plus',
  'users',
  'volume-2',
  'x',
  'zap',
];

/** What the set repeats in each icon: the style sheet says it once, with other widths in places. */
const STROKE =
  ' fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round"' +
  ' stroke-width="2"';

/** @param {string} file */
export function writeSprite(file) {
  const { icons } = JSON.parse(
    readFileSync(require.resolve('@iconify-json/lucide/icons.json'), 'utf8'),
  );
  const symbols = ICONS.map((name) => symbolOf(name, icons[name]?.body));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join('')}</svg>`);
}

/** @param {string} name @param {string | undefined} body Of the set, unless it has no such icon. */
function symbolOf(name, body) {
  if (body === undefined) throw new Error(`lucide has no icon "${name}": its name has changed`);
  const shapes = body.replaceAll(STROKE, '').replaceAll(/<\/?g>/g, '');
  return `<symbol id="${name}" viewBox="0 0 24 24">${shapes}</symbol>`;
}
