import { readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { writeSprite } from './icons.js';

const web = dirname(fileURLToPath(import.meta.url));
// Written before each build: the build then names it by its content, like every other file.
writeSprite(join(web, 'generated', 'icons.svg'));

const TEXT = /\.(html|js|css|svg)$/;
/** Smaller ones gain nothing. */
const MIN_BYTES = 600;

/**
 * Beside each text file the two forms in which it is sent: nothing is compressed when asked for.
 * Read from where they were written: before that, names of other files are not filled in yet.
 */
const compressed = {
  name: 'compressed',
  /** @param {{ dir?: string }} options @param {object} bundle */
  writeBundle({ dir = '' }, bundle) {
    for (const name of Object.keys(bundle).filter((one) => TEXT.test(one))) {
      const file = join(dir, name);
      const source = readFileSync(file);
      if (source.length < MIN_BYTES) continue;
      const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
      writeFileSync(`${file}.br`, brotliCompressSync(source, { params }));
      writeFileSync(`${file}.gz`, gzipSync(source, { level: 9 }));
    }
  },
};

/** Of `src/api` and `src/ui`, what is drawn before any screen. */
const FRAME_API = 'cell|fault|live|session';
const FRAME_UI = 'button/button-class|button/icon|button/icon-button|dialog/toasts';

/**
 * Two files for all screens: what the frame needs itself, and the small parts that nearly every
 * screen uses, which would else be twenty.
 */
const groups = [
  {
    name: 'frame',
    priority: 2,
    test: new RegExp(`node_modules/preact|web/src/(api/(${FRAME_API})|ui/(${FRAME_UI}))\\.`),
  },
  {
    name: 'parts',
    priority: 1,
    test: /web\/src\/(api|ui\/(?!markdown\/|snippets\/)|style\/(layout|text))/,
  },
];

export default defineConfig({
  root: web,
  // The page is served from the root of the coordinator's origin.
  base: '/',
  publicDir: false,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [compressed],
  build: {
    outDir: join(web, '..', 'dist', 'web'),
    emptyOutDir: true,
    target: 'es2022',
    // The policy of the page allows no `data:` but for pictures.
    assetsInlineLimit: 0,
    // Of what a screen imports, the frame lists the styles alone: names of all of its scripts would
    // be a tenth of it.
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_file, names, { hostType }) =>
        hostType === 'html' ? names : names.filter((name) => name.endsWith('.css')),
    },
    rolldownOptions: { output: { codeSplitting: { groups } } },
    reportCompressedSize: false,
  },
});
