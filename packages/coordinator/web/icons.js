// The icons of the page, by their names in lucide, and the sprite file that contains them.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

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
  'file-audio',
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
  'trash-2',
  'triangle-alert',
  'undo-2',
  'user',
  'user-plus',
  'users',
  'volume-2',
  'x',
  'zap',
];

/** @param {string} file */
export function writeSprite(file) {
  const folder = join(dirname(require.resolve('lucide-static/package.json')), 'icons');
  const symbols = ICONS.map((name) =>
    symbolOf(name, readFileSync(join(folder, `${name}.svg`), 'utf8')),
  );
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join('')}</svg>`);
}

/** @param {string} name @param {string} svg */
function symbolOf(name, svg) {
  const paths = svg.slice(svg.indexOf('>', svg.indexOf('<svg')) + 1, svg.lastIndexOf('</svg>'));
  const compact = paths.replaceAll(/\s*\n\s*/g, '');
  return `<symbol id="${name}" viewBox="0 0 24 24">${compact}</symbol>`;
}
